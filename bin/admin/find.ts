/** Yields the presented items that contain a text in one of the fields, ignoring case. */
export async function* found<T, P extends object>(
  text: string,
  fields: readonly (keyof P)[],
  pages: AsyncIterable<readonly T[]> | readonly (readonly T[])[],
  present: (one: T) => P,
): AsyncGenerator<P> {
  const wanted = text.toLowerCase();
  for await (const page of pages) {
    for (const one of page) {
      const shown = present(one);
      const texts = fields.map((field) => `${shown[field] ?? ''}`.toLowerCase());
      if (texts.some((text) => text.includes(wanted))) yield shown;
    }
  }
}
