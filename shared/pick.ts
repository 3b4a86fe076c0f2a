/** The attributes with these names, in their order. */
export function pick<T extends object, const Names extends readonly (keyof T)[]>(
  of: T,
  names: Names,
): Pick<T, Names[number]> {
  return Object.fromEntries(names.map((name) => [name, of[name]])) as Pick<T, Names[number]>;
}
