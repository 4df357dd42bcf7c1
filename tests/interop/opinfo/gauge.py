"""What is the same of two answers that are both right: vectors may have other signs, eigenvalues another order."""

import torch


def near(ours, theirs):
    """Eigenvalues in the order of PyTorch's, each the nearest one that is left."""
    if ours.numel() == 0 or ours.shape != theirs.shape:
        return ours
    rows = []
    for mine, wanted in zip(ours.reshape(-1, ours.shape[-1]), theirs.reshape(-1, theirs.shape[-1])):
        left = mine.tolist()
        rows.append(torch.tensor([left.pop(min(range(len(left)), key=lambda i: abs(left[i] - to))) for to in wanted.tolist()]))
    return torch.stack(rows).reshape(ours.shape).to(ours.dtype)


def of_svd(u, s, vh):
    if u.numel() == 0 or vh.numel() == 0:
        return [s]
    k = s.shape[-1]
    return [s, (u[..., :k] * s.unsqueeze(-2).to(u.dtype)) @ vh[..., :k, :], u.mH @ u, vh @ vh.mH]


def of_eigh(values, vectors):
    if vectors.numel() == 0:
        return [values]
    return [values, (vectors * values.unsqueeze(-2).to(vectors.dtype)) @ vectors.mH, vectors.mH @ vectors]


def of_eig(values, vectors):
    """The matrix that has them: the vectors' lengths are theirs, too."""
    if vectors.numel() == 0:
        return [values]
    return [torch.linalg.solve(vectors, vectors * values.unsqueeze(-2), left=False), torch.linalg.vector_norm(vectors, dim=-2)]


# What results are made of that every right answer shares.
SHARED = {
    "aten::_linalg_svd": of_svd,
    "aten::linalg_svd": of_svd,
    "aten::svd": lambda u, s, v: of_svd(u, s, v.mH),
    "aten::_linalg_eigh": of_eigh,
    "aten::linalg_eigh": of_eigh,
    "aten::linalg_eig": of_eig,
}
# Squaring doubles PyTorch's roundings, so that the largest number of a result is the measure of all. Of short types it gives what
# lay in memory.
EXPONENTIALS = ("aten::matrix_exp", "aten::linalg_matrix_exp")
IN_ANY_ORDER = ("aten::linalg_eigvals", "aten::_linalg_eigvals", "aten::linalg_eig")


def pairs(base, ours, theirs):
    """Pairs of tensors to compare in place of the results; None where the results themselves are compared."""
    if base in EXPONENTIALS:
        return [] if theirs[0].dtype in (torch.float16, torch.bfloat16) else [(ours[0], theirs[0])]
    found = []
    if base in IN_ANY_ORDER:
        found.append((near(ours[0], theirs[0]), theirs[0]))
    if base in SHARED:
        found += zip(SHARED[base](*ours), SHARED[base](*theirs))
    return found or None
