import type { Key } from './item.ts';

/** The ids of a form, such as `USER#<user_id>`. `<number:6>` is a number of six digits. */
type Ids<Form extends string> = Form extends `${string}<${infer Name}>${infer Rest}`
  ? [Name extends `${string}:${string}` ? number | '' : string, ...Ids<Rest>]
  : [];

// @__NO_SIDE_EFFECTS__
/**
 * Makes the function that puts ids into a form, those of the partition key first. An empty id ends
 * a key, which is then the prefix of all keys that begin so.
 */
export function keyOf<P extends string, S extends string>(pk: P, sk: S) {
  const [fillPk, ids] = filler(pk);
  const [fillSk] = filler(sk, ids);
  const make = (...values: [...Ids<P>, ...Ids<S>]): Key => ({
    pk: fillPk(values),
    sk: fillSk(values),
  });
  return Object.assign(make, { form: { pk, sk } });
}

/** Returns the function that fills a form with ids, from the first on, and the end of these. */
function filler(form: string, first = 0): [fill: (ids: readonly unknown[]) => string, end: number] {
  const [start = '', ...parts] = form.split(/<\w+:?(\d*)>/);
  const fill = (ids: readonly unknown[]) => {
    let text = start;
    for (let i = 0; i < parts.length; i += 2) {
      const id = ids[first + i / 2];
      if (id === '') break;
      text += `${id}`.padStart(Number(parts[i]), '0') + parts[i + 1];
    }
    return text;
  };
  return [fill, first + parts.length / 2];
}

/** Returns the id in a partition key: all after the first #. */
export function idIn({ pk }: Pick<Key, 'pk'>): string {
  return pk.slice(pk.indexOf('#') + 1);
}
