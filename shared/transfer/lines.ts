/**
 * A line without its line feed; `isWhole` is false if the line feed was missing. `text` is
 * undefined if the line is not UTF-8.
 */
export interface Line {
  number: number;
  text: string | undefined;
  isWhole: boolean;
}

const newline = 0x0a;

/** Splits bytes into lines, at line feeds only: texts may contain other line separators. */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  const decode = (line: Uint8Array) => {
    try {
      return decoder.decode(line);
    } catch {
      return undefined;
    }
  };
  let number = 0;
  let begun: Uint8Array[] = [];
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const part = chunk.subarray(start, end);
      const line = begun.length > 0 ? Buffer.concat([...begun, part]) : part;
      begun = [];
      start = end + 1;
      number++;
      yield { number, text: decode(line), isWhole: true };
    }
    if (start < chunk.length) begun.push(chunk.subarray(start));
  }
  if (begun.length === 0) return;
  yield { number: number + 1, text: decode(Buffer.concat(begun)), isWhole: false };
}
