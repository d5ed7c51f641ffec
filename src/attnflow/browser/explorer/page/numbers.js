// Numbers as text, and text as numbers.

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function powerText(exponent) {
  return `10${[...String(exponent)].map((sign) => RAISED[sign]).join("")}`;
}

// For people: few digits, powers of ten far from one, a true minus sign.
function numberText(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    if (Number.isInteger(value) && size < 1e6) return String(value).replace("-", "−");
    const [mantissa, exponent] = value.toExponential(Math.max(digits - 2, 0)).split("e");
    const short = String(Number(mantissa)).replace("-", "−");
    const power = powerText(Number(exponent));
    if (short === "1") return power;
    return short === "−1" ? `−${power}` : `${short}·${power}`;
  }
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// For fields, links and code: what a program reads back as the same number.
function exactText(value) {
  return typeof value === "number" ? String(value) : value === null ? "none" : String(value);
}

// Understands 0.1, 1e-3, 10^-3, 2·10⁻³ and 3/8; NaN for anything else.
function readNumber(text) {
  const raised = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";
  const plain = text.trim().replace(/[\s\u202f]/g, "").replaceAll("−", "-").replace(/[·×*]/g, "*")
    .replace(/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (run) => `^${[...run].map((sign) => "-0123456789"[raised.indexOf(sign)]).join("")}`);
  const power = /^([-+]?)(?:([\d.]+)\*)?10\^\(?([-+]?\d+)\)?$/.exec(plain);
  if (power) return Number(`${power[1]}${power[2] ?? 1}e${power[3]}`);
  const ratio = /^([-+]?[\d.]+)\/([\d.]+)$/.exec(plain);
  if (ratio) return Number(ratio[1]) / Number(ratio[2]);
  return plain === "" ? NaN : Number(plain);
}

function milliseconds(value) {
  return value < 10 ? `${value.toFixed(1)} ms` : value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(2)} s`;
}
