// Contrast of colours (WCAG 2.2, relative luminance).

/** The least contrast of a text with what is behind it (WCAG 2.2, 1.4.3). */
export const leastContrast = 4.5;

type Channels = [red: number, green: number, blue: number];

/** Returns the contrast of two colours, from 1 to 21. Colours are written as #rrggbb. */
export function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Returns a colour mixed with white until it has the least contrast with all of these. */
export function lightened(colour: string, behind: readonly string[]): string {
  for (let percent = 0; percent < 100; percent += 2) {
    const mixed = mixedWithWhite(colour, percent / 100);
    if (behind.every((each) => contrastOf(mixed, each) >= leastContrast)) return mixed;
  }
  return '#ffffff';
}

function mixedWithWhite(colour: string, share: number): string {
  const mixed = channelsOf(colour).map((channel) => Math.round(channel + (255 - channel) * share));
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

function luminanceOf(colour: string): number {
  const [red, green, blue] = channelsOf(colour).map(linear) as Channels;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function channelsOf(colour: string): Channels {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as Channels;
}
