/** Returns only the named attributes, in the order of `names`. */
export function pick<T extends object, const Names extends readonly (keyof T)[]>(
  of: T,
  names: Names,
): Pick<T, Names[number]> {
  return Object.fromEntries(names.map((name) => [name, of[name]])) as Pick<T, Names[number]>;
}
