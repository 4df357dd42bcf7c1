"""Mobile modules in flatbuffers, table by table, read by nothing of ours or PyTorch's."""

import struct

STRUCTS = {1: "<q", 2: "<B", 3: "<d", 4: "<dd"}
# Fields of each table: a format of struct, "s" text, "t:NAME" table, "v:FORMAT" numbers, "vs" texts, "vt:NAME" tables.
TABLES = {
    "module": ["I", "vt:file", "v:I", "I", "vt:value", "i", "vt:storage", "vt:type", "vt:file", "v:I", "I", "I"],
    "file": ["s", "s"],
    "storage": ["v:B"],
    "type": ["s", "B", "vs"],
    "tensor": ["I", "b", "i", "v:i", "v:i", "B", "t:quantizer"],
    "quantizer": ["b", "d", "i", "t:tensor", "t:tensor", "i"],
    "text": ["s"],
    "list": ["v:I", "s"],
    "tuple": ["v:I"],
    "dict": ["v:I", "v:I", "s"],
    "object": ["I", "I", "v:I", "I"],
    "ints": ["v:q"],
    "floats": ["v:d"],
    "bools": ["v:B"],
    "enum": ["s", "I"],
    "function": ["s", "instructions", "vt:operator", "v:I", "vs", "i", "t:schema", "t:debug", "I"],
    "operator": ["s", "s", "i"],
    "schema": ["vt:argument", "vt:argument"],
    "argument": ["s", "s", "I"],
    "debug": ["v:q"],
}
UNION = {5: "tensor", 6: "text", 7: "list", 8: "tuple", 9: "dict", 10: "object", 11: "ints", 12: "floats",
         13: "bools", 14: "text", 15: "enum", 16: "function"}


class Flat:
    def __init__(self, data):
        self.data = bytes(data)
        self.handles = []  # where the numbers of debug handles lie: (begin, end)

    def at(self, form, place):
        return struct.unpack_from("<" + form, self.data, place)[0]

    def follow(self, place):
        return place + self.at("I", place)

    def fields(self, place, count):
        listed = place - self.at("i", place)
        size = self.at("H", listed)
        for number in range(count):
            entry = 4 + 2 * number
            offset = self.at("H", listed + entry) if entry < size else 0
            yield place + offset if offset else None

    def text(self, place):
        return self.data[place + 4 : place + 4 + self.at("I", place)].decode()

    def vector(self, place, form):
        count = self.at("I", place)
        size = struct.calcsize("<" + form)
        return [self.at(form, place + 4 + i * size) for i in range(count)]

    def value(self, place):
        kind_at, at = self.fields(place, 2)
        kind = self.at("B", kind_at) if kind_at else 0
        if kind == 0:
            return None
        if kind in STRUCTS:
            return kind, struct.unpack_from(STRUCTS[kind], self.data, self.follow(at))
        return UNION[kind], self.table(UNION[kind], self.follow(at))

    def table(self, name, place):
        if name == "value":
            return self.value(place)
        made = []
        for form, at in zip(TABLES[name], self.fields(place, len(TABLES[name]))):
            if at is None:
                made.append(None)
            elif form == "s":
                made.append(self.text(self.follow(at)))
            elif form.startswith("t:"):
                made.append(self.table(form[2:], self.follow(at)))
            elif form == "instructions":
                begin = self.follow(at)
                made.append([struct.unpack_from("<bxHi", self.data, begin + 4 + 8 * i)
                             for i in range(self.at("I", begin))])
            elif form == "vs":
                begin = self.follow(at)
                made.append([self.text(self.follow(begin + 4 + 4 * i)) for i in range(self.at("I", begin))])
            elif form.startswith("vt:"):
                begin = self.follow(at)
                made.append([self.table(form[3:], self.follow(begin + 4 + 4 * i)) for i in range(self.at("I", begin))])
            elif form.startswith("v:"):
                begin = self.follow(at)
                if name == "debug":
                    self.handles.append((begin + 4, begin + 4 + 8 * self.at("I", begin)))
                    made.append(self.at("I", begin))  # how many: their numbers are those of the process
                else:
                    made.append(self.vector(begin, form[2:]))
            else:
                made.append(self.at(form, at))
        return made

    def module(self):
        assert self.data[4:8] == b"PTMF"
        return self.table("module", self.follow(0))

    def without_handles(self):
        """The bytes with zeros for debug handles."""
        if not self.handles:
            self.module()
        data = bytearray(self.data)
        for begin, end in self.handles:
            data[begin:end] = bytes(end - begin)
        return bytes(data)
