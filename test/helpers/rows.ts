/** Returns rows for `test.each`: each name with each of its values. */
export function rowsOf<T>(values: Readonly<Record<string, readonly T[]>>): [name: string, T][] {
  return Object.entries(values).flatMap(([name, all]) =>
    all.map((value): [string, T] => [name, value]),
  );
}
