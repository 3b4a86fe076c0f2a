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
