/** A coding of answers (RFC 9110 section 8.4.1). */
export type ContentCoding = 'gzip' | 'deflate' | 'br' | 'zstd';

/**
 * Chooses a coding by RFC 9110 section 12.5.3: gzip or deflate, as API Gateway does, and another
 * one for clients that take neither. `*` stands for all that are not named. API Gateway compresses
 * nothing for it.
 */
export function codingFor(acceptEncoding = ''): ContentCoding | undefined {
  // Spaces go first: a pattern with optional spaces takes quadratic time for many of them.
  const items = acceptEncoding.toLowerCase().replaceAll(/\s+/g, '').split(',');
  const preferences = items.map((item) => {
    const [name, weight = 1] = item.split(';q=');
    return { name, weight: Number(weight) };
  });
  const weightOf = (coding: string) => {
    const wanted = preferences.find(({ name }) => name === coding);
    return (wanted ?? preferences.find(({ name }) => name === '*'))?.weight ?? 0;
  };
  function preferred(first: ContentCoding, second: ContentCoding): ContentCoding | undefined {
    const coding = weightOf(second) > weightOf(first) ? second : first;
    return weightOf(coding) > 0 ? coding : undefined;
  }
  return preferred('gzip', 'deflate') ?? preferred('br', 'zstd');
}
