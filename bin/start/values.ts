import { InvalidArgumentError } from 'commander';

// Parsers of the values of options. They throw InvalidArgumentError.

/** Parses a whole number. `low` may say what the lowest one means. */
export function numberFrom([low, meaning]: [number, string?], high: number) {
  return (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < low || number > high) {
      const lowest = meaning ? `${low} (${meaning})` : `${low}`;
      throw new InvalidArgumentError(`It must be a number from ${lowest} to ${high}.`);
    }
    return number;
  };
}

/** Keeps a text, which functions read, if it can be read. */
export function checked(read: (text: string) => unknown) {
  return (value: string): string => {
    try {
      read(value);
    } catch (error) {
      throw new InvalidArgumentError(`${(error as Error).message}.`);
    }
    return value;
  };
}
