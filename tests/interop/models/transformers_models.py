"""Transformers models of tiny configuration with random weights: what they are made of and what they take.

A model is a Model in MODELS. Text takes ids and a mask of (batch, length); images are (batch, 3, 32, 32); both sizes of text
and the batch of images are dynamic in the dynamic variant.
"""

import dataclasses
import functools

import torch
from torch.export import Dim

SIZES = [(2, 7), (3, 11)]  # batch and length: the first is exported, the second must run too where the program is dynamic
VOCABULARY = 99

# The names that configurations use for the same few numbers.
ENCODER = dict(
    vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
    max_position_embeddings=64,
)
DECODER = dict(ENCODER, num_key_value_heads=2, pad_token_id=0, bos_token_id=1, eos_token_id=2)
SEQ2SEQ = dict(
    vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=37, decoder_ffn_dim=37, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    decoder_start_token_id=2,
)
IMAGE = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, image_size=32, patch_size=8, num_channels=3,
)


def text(batch, length):
    ids = torch.randint(3, VOCABULARY, (batch, length))
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, length - 2 :] = 0
    return {"input_ids": ids, "attention_mask": mask}


def ids_only(batch, length):
    return {"input_ids": text(batch, length)["input_ids"]}


def two_texts(batch, length):
    return {**text(batch, length), "decoder_input_ids": torch.randint(3, VOCABULARY, (batch, length))}


def image(batch, length):
    return {"pixel_values": torch.randn(batch, 3, 32, 32)}


def large_image(batch, length):
    return {"pixel_values": torch.randn(batch, 3, 64, 64)}


def image_and_text(batch, length):
    return {**text(batch, length), **image(batch, length)}


def sound(batch, length):
    return {"input_values": torch.randn(batch, 400 + 100 * length)}


def spectrum(batch, length):
    return {"input_features": torch.randn(batch, 16, 60), "decoder_input_ids": torch.randint(3, VOCABULARY, (batch, length))}


@dataclasses.dataclass
class Model:
    config: str
    model: str
    options: dict
    inputs: object = text
    length: bool = True  # whether the dynamic program takes texts of any length


# Near relatives of others here: made and run on request only (FLAMBEAU_ALL_MODELS).
RELATIVES = {
    "xlm_roberta", "camembert", "squeezebert", "gptj", "gemma3", "olmo2", "starcoder2", "granite", "glm", "marian", "mbart", "hubert",
    "siglip", "beit", "yolos", "resnet", "mobilevit", "levit", "regnet", "poolformer", "dpt", "time_series",
}  # fmt: skip


def plain(model):
    """Makes it give a tuple, not one of the library's own classes: a file of it then opens without the library."""
    forward = model.forward

    @functools.wraps(forward)  # export matches inputs and dynamic sizes by the signature
    def tuple_forward(*args, **kwargs):
        return forward(*args, **kwargs, return_dict=False)

    model.forward = tuple_forward
    return model


def encoder(config, model, **options):
    return Model(config, model, {**ENCODER, **options})


def decoder(config, model, **options):
    return Model(config, model, {**DECODER, "use_cache": False, **options})


def seq2seq(config, model, **options):
    return Model(config, model, {**SEQ2SEQ, "use_cache": False, **options}, inputs=two_texts)


def vision(config, model, **options):
    return Model(config, model, {**IMAGE, **options}, inputs=image)


def other(config, model, inputs, length=True, **options):
    return Model(config, model, options, inputs=inputs, length=length)


CLIP_TEXT = dict(ENCODER, bos_token_id=1, eos_token_id=2, projection_dim=16)
T5 = dict(
    vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_decoder_layers=2, num_heads=4,
    decoder_start_token_id=0, use_cache=False,
)

MODELS = {
    "bert": encoder("BertConfig", "BertForMaskedLM"),
    "roberta": encoder("RobertaConfig", "RobertaForSequenceClassification", pad_token_id=1),
    "xlm_roberta": encoder("XLMRobertaConfig", "XLMRobertaForTokenClassification", pad_token_id=1),
    "camembert": encoder("CamembertConfig", "CamembertModel", pad_token_id=1),
    "distilbert": other("DistilBertConfig", "DistilBertForSequenceClassification", text, vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=37, max_position_embeddings=64),
    "albert": encoder("AlbertConfig", "AlbertModel", embedding_size=16),
    "electra": encoder("ElectraConfig", "ElectraForPreTraining", embedding_size=16),
    "deberta_v2": encoder("DebertaV2Config", "DebertaV2Model", relative_attention=True, position_buckets=8, pos_att_type="p2c|c2p", position_biased_input=False),
    "mpnet": encoder("MPNetConfig", "MPNetModel"),
    "convbert": encoder("ConvBertConfig", "ConvBertModel", embedding_size=16),
    "modernbert": encoder("ModernBertConfig", "ModernBertModel", pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2, attn_implementation="sdpa"),
    "squeezebert": encoder("SqueezeBertConfig", "SqueezeBertModel", embedding_size=32, q_groups=2, k_groups=2, v_groups=2, intermediate_groups=2, output_groups=2),
    "mobilebert": encoder("MobileBertConfig", "MobileBertModel", embedding_size=16, intra_bottleneck_size=16),
    "gpt2": other("GPT2Config", "GPT2LMHeadModel", text, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, use_cache=False),
    "gpt_neo": other("GPTNeoConfig", "GPTNeoForCausalLM", text, vocab_size=VOCABULARY, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4, max_position_embeddings=64, use_cache=False),
    "gpt_neox": encoder("GPTNeoXConfig", "GPTNeoXForCausalLM", use_cache=False),
    "gptj": other("GPTJConfig", "GPTJForCausalLM", text, vocab_size=VOCABULARY, n_positions=64, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, use_cache=False),
    "opt": encoder("OPTConfig", "OPTForCausalLM", ffn_dim=37, word_embed_proj_dim=32, use_cache=False),
    "llama": decoder("LlamaConfig", "LlamaForCausalLM"),
    "mistral": decoder("MistralConfig", "MistralForCausalLM", sliding_window=4),
    "mixtral": decoder("MixtralConfig", "MixtralForCausalLM", num_local_experts=4, num_experts_per_tok=2),
    "qwen2": decoder("Qwen2Config", "Qwen2ForCausalLM"),
    "qwen3": decoder("Qwen3Config", "Qwen3ForCausalLM", head_dim=8),
    "gemma": decoder("GemmaConfig", "GemmaForCausalLM", head_dim=8),
    "gemma2": decoder("Gemma2Config", "Gemma2ForCausalLM", head_dim=8, sliding_window=4),
    "gemma3": decoder("Gemma3TextConfig", "Gemma3ForCausalLM", head_dim=8, sliding_window=4),
    "phi": decoder("PhiConfig", "PhiForCausalLM"),
    "phi3": decoder("Phi3Config", "Phi3ForCausalLM"),
    "falcon": encoder("FalconConfig", "FalconForCausalLM", use_cache=False),
    "bloom": other("BloomConfig", "BloomForCausalLM", text, vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4, use_cache=False),
    "mpt": other("MptConfig", "MptForCausalLM", text, vocab_size=VOCABULARY, d_model=32, n_layers=2, n_heads=4, expansion_ratio=2, max_seq_len=64, use_cache=False),
    "olmo": decoder("OlmoConfig", "OlmoForCausalLM"),
    "olmo2": decoder("Olmo2Config", "Olmo2ForCausalLM"),
    "stablelm": decoder("StableLmConfig", "StableLmForCausalLM"),
    "starcoder2": decoder("Starcoder2Config", "Starcoder2ForCausalLM"),
    "cohere": decoder("CohereConfig", "CohereForCausalLM"),
    "granite": decoder("GraniteConfig", "GraniteForCausalLM"),
    "glm": decoder("GlmConfig", "GlmForCausalLM", head_dim=8),
    "mamba": other("MambaConfig", "MambaForCausalLM", ids_only, length=False, vocab_size=VOCABULARY, hidden_size=32, state_size=4, num_hidden_layers=2, use_cache=False),
    "t5_encoder": other("T5Config", "T5EncoderModel", text, **T5),
    "t5": other("T5Config", "T5ForConditionalGeneration", two_texts, **T5),
    "bart": seq2seq("BartConfig", "BartForConditionalGeneration"),
    "pegasus": seq2seq("PegasusConfig", "PegasusForConditionalGeneration"),
    "marian": seq2seq("MarianConfig", "MarianMTModel"),
    "mbart": seq2seq("MBartConfig", "MBartForConditionalGeneration"),
    "whisper": other("WhisperConfig", "WhisperForConditionalGeneration", spectrum, **{k: v for k, v in SEQ2SEQ.items() if k != "max_position_embeddings"}, num_mel_bins=16, max_source_positions=30, max_target_positions=64, use_cache=False),
    "wav2vec2": other("Wav2Vec2Config", "Wav2Vec2ForCTC", sound, **ENCODER, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3), num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2),
    "hubert": other("HubertConfig", "HubertModel", sound, **ENCODER, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3), num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2),
    "clip": other("CLIPConfig", "CLIPModel", image_and_text, text_config=CLIP_TEXT, vision_config=dict(IMAGE, projection_dim=16), projection_dim=16),
    "siglip": other("SiglipConfig", "SiglipModel", image_and_text, text_config=dict(ENCODER, projection_size=32), vision_config=IMAGE),
    "vit": vision("ViTConfig", "ViTForImageClassification"),
    "deit": vision("DeiTConfig", "DeiTForImageClassification"),
    "beit": vision("BeitConfig", "BeitModel"),
    "dinov2": vision("Dinov2Config", "Dinov2Model"),
    "yolos": vision("YolosConfig", "YolosForObjectDetection", image_size=[32, 32], num_detection_tokens=3),
    "swin": other("SwinConfig", "SwinForImageClassification", image, image_size=32, patch_size=2, embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=4),
    "convnext": other("ConvNextConfig", "ConvNextForImageClassification", image, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "segformer": other("SegformerConfig", "SegformerForSemanticSegmentation", large_image, depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16),
    "resnet": other("ResNetConfig", "ResNetForImageClassification", image, embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
    "mobilenet_v2": other("MobileNetV2Config", "MobileNetV2ForImageClassification", large_image, image_size=64, depth_multiplier=0.25),
    "mobilevit": other("MobileViTConfig", "MobileViTForImageClassification", large_image, image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32], num_attention_heads=4),
    "levit": other("LevitConfig", "LevitForImageClassification", large_image, image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8]),
    "regnet": other("RegNetConfig", "RegNetForImageClassification", image, embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], groups_width=8),
    "poolformer": other("PoolFormerConfig", "PoolFormerForImageClassification", image, depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32]),
    "dpt": other("DPTConfig", "DPTForDepthEstimation", large_image, **dict(IMAGE, image_size=64, patch_size=16, num_hidden_layers=4), backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=8),
    "time_series": other("PatchTSMixerConfig", "PatchTSMixerModel", lambda batch, length: {"past_values": torch.randn(batch, 32, 3)}, context_length=32, patch_length=8, patch_stride=8, num_input_channels=3, d_model=16, num_layers=2),
}


def build(name):
    """The module, with weights that a fixed seed gives."""
    import transformers  # takes seconds, and the names of the models do not need it

    spec = MODELS[name]
    torch.manual_seed(0)
    options = dict(spec.options)
    attention = {"attn_implementation": options.pop("attn_implementation")} if "attn_implementation" in options else {}
    config = getattr(transformers, spec.config)(**options)
    model = getattr(transformers, spec.model)._from_config(config, **attention).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            # Biases and norms start at zero and one, which would hide a wrong order of them.
            if parameter.is_floating_point() and parameter.dim() < 2:
                parameter.add_(torch.randn_like(parameter) * 0.1)
        for key, buffer in model.named_buffers():
            if key.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)
            if key.endswith("running_mean"):
                buffer.normal_(0, 0.1)
    return plain(model)


def inputs(name, size):
    batch, length = size
    torch.manual_seed(1000 + batch)
    return MODELS[name].inputs(batch, length if MODELS[name].length else SIZES[0][1])


def dynamic_shapes(name, example):
    """Batch and length of what has a length."""
    lengths = {"input_ids", "attention_mask", "decoder_input_ids", "input_values"} if MODELS[name].length else set()
    shapes = {key: {0: Dim.AUTO, 1: Dim.AUTO} if key in lengths else {0: Dim.AUTO} for key in example}
    return shapes


def export(name, dynamic):
    example = inputs(name, SIZES[0])
    shapes = dynamic_shapes(name, example) if dynamic else None
    with torch.no_grad():
        return torch.export.export(build(name), (), example, dynamic_shapes=shapes, strict=False)
