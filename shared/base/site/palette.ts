/** Colours behind texts, of pages, footers and notices. An accent needs contrast with each. */
export const grounds = {
  light: ['#ffffff', '#f4f5f8', '#eef8f1', '#fdf0ef'],
  dark: ['#161a22', '#1f2430', '#15251b', '#2a1a1c'],
} as const;
