/** A line without its end; `isWhole` says that it had one. Undefined text is no UTF-8. */
export interface Line {
  number: number;
  text: string | undefined;
  isWhole: boolean;
}

const newline = 0x0a;

/** Lines of bytes, split at line feeds and nothing else: a text may hold other ends of lines. */
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
