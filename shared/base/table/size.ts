// Sizes as DynamoDB counts them.

/**
 * Bytes of an item, or of some of its attributes (Developer Guide, "DynamoDB item sizes and
 * formats"). Throws a TypeError for what cannot be stored: a Set, a Date, bytes or any other class
 * instance, a function, and a number that is not finite.
 */
export function sizeOf(item: object): number {
  let size = 0;
  for (const name in item) {
    const value = (item as Record<string, unknown>)[name];
    if (value !== undefined) size += Buffer.byteLength(name) + bytesOf(value);
  }
  return size;
}

function bytesOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return Buffer.byteLength(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`cannot store ${value}: store a number`);
      return bytesOfNumber(`${value}`);
    case 'bigint':
      return bytesOfNumber(`${value}`);
    case 'boolean':
      return 1;
    case 'object':
      return value === null ? 1 : bytesOfContainer(value);
    default:
      throw unstorable(typeof value);
  }
}

/** Two digits take a byte. Zeros at both ends take none. */
function bytesOfNumber(number: string): number {
  const [mantissa = ''] = number.split('e');
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length;
  return 1 + Math.ceil(digits / 2) + (number.startsWith('-') ? 1 : 0);
}

/** A list or map takes three bytes, and one for each element. */
function bytesOfContainer(value: object): number {
  if (Array.isArray(value)) {
    const parts = value.filter((part) => part !== undefined);
    return parts.reduce((size, part) => size + 1 + bytesOf(part), 3);
  }
  const { name } = value.constructor ?? Object;
  if (name !== 'Object') throw unstorable(name);
  return 3 + Object.values(value).filter((part) => part !== undefined).length + sizeOf(value);
}

const unstorable = (name: string) =>
  new TypeError(`cannot store a ${name}: store text, a number, a list or an object`);
