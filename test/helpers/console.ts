type Level = 'error' | 'info' | 'log' | 'warn';

/** Prints nothing at this level of the console until the test ends. Returns the spy. */
export function silence(level: Level) {
  return jest.spyOn(console, level).mockImplementation(() => {});
}

/** Prints nothing at this level in this file. Returns what a test has been about to print. */
export function silenceAll(level: Level) {
  const print = jest.fn<(typeof console)[Level]>();
  const begin = () => void jest.spyOn(console, level).mockImplementation(print.mockClear());
  begin();
  beforeEach(begin);
  return print;
}

/** Counts metrics until the test ends, and prints none. Returns the growing list of their names. */
export function countMetrics(): string[] {
  const counted: string[] = [];
  process.env.METRICS_NAMESPACE = 'reviews';
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    const [{ Metrics, Dimensions }] = JSON.parse(`${text}`)._aws.CloudWatchMetrics;
    // An alarm reads the metric without dimensions.
    expect(Dimensions).toContainEqual([]);
    return counted.push(Metrics[0].Name) > 0;
  });
  return counted;
}
