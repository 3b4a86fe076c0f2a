/**
 * Number of the format in which data is stored, on both hosts. It is not the product's version.
 * Raise it when this code cannot read the data of older code, or writes data that older code cannot
 * read: going back then needs a backup.
 */
export const dataFormat = 3;
