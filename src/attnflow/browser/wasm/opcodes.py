"""Operations of WebAssembly and their bytes."""

_INT32 = (
    ("eqz eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u", 0x45),
    ("clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s", 0x67),
    ("shr_u rotl rotr", 0x76),
)
_INT64 = (
    ("eqz eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u", 0x50),
    ("clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s", 0x79),
    ("shr_u rotl rotr", 0x88),
)
_FLOAT64 = (
    ("eq ne lt gt le ge", 0x61),
    ("abs neg ceil floor trunc nearest sqrt add sub mul div min max copysign", 0x99),
)
_CONVERSIONS = {
    "i32.wrap_i64": b"\xa7",
    "i64.extend_i32_s": b"\xac",
    "i64.extend_i32_u": b"\xad",
    "i64.extend32_s": b"\xc4",
    "f64.convert_i32_s": b"\xb7",
    "f64.convert_i64_s": b"\xb9",
    "f64.convert_i64_u": b"\xba",
    "i64.reinterpret_f64": b"\xbd",
    "f64.reinterpret_i64": b"\xbf",
    "i32.trunc_sat_f64_s": b"\xfc\x02",
    "i64.trunc_sat_f64_s": b"\xfc\x06",
    "select": b"\x1b",
}

TYPES = {"i32": 0x7F, "i64": 0x7E, "f64": 0x7C}
LOADS = {"i64": 0x29, "f64": 0x2B}
STORES = {"i64": 0x37, "f64": 0x39}

OPERATIONS = {
    f"{type}.{name}": bytes([first + place])
    for type, rows in (("i32", _INT32), ("i64", _INT64), ("f64", _FLOAT64))
    for names, first in rows
    for place, name in enumerate(names.split())
} | _CONVERSIONS


def unsigned(value: int) -> bytes:
    """A number in LEB128."""
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def signed(value: int) -> bytes:
    """A number with a sign in LEB128."""
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        done = (value == 0 and not low & 0x40) or (value == -1 and low & 0x40)
        out.append(low | (0 if done else 0x80))
        if done:
            return bytes(out)
