// The document: JSON, compressed, as base64. Page and worker unpack it side by side.

function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
