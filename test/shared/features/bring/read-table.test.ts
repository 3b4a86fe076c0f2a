import { readTable } from '../../../../shared/features/bring/read-table.ts';

const letterboxd = 'Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date';
const goodreads =
  'Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,Average Rating,Publisher,Binding,Number of Pages,Year Published,Original Publication Year,Date Read,Date Added,Bookshelves,Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,Private Notes,Read Count,Owned Copies';
const storygraph =
  'Title,Authors,Contributors,ISBN/UID,Format,Read Status,Date Added,Last Date Read,Dates Read,Read Count,Moods,Pace,Character- or Plot-Driven?,Strong Character Development?,Loveable Characters?,Diverse Characters?,Flawed Characters?,Star Rating,Review,Content Warnings,Content Warning Description,Tags,Owned?';

const read = async (...lines: string[]) => (await readTable(lines.join('\n'))).rows;

const long = 'A city above, and a city below.';

test.each([
  [
    'reviews of Letterboxd',
    letterboxd,
    `2024-03-02,Metropolis,1927,https://boxd.it/2a,4.5,Yes,"${long}",silent,2024-03-01`,
    'letterboxd',
    { title: 'Metropolis', year: '1927', rating: 4.5, text: long, date: '2024-03-01' },
  ],
  [
    'ratings of Letterboxd',
    'Date,Name,Year,Letterboxd URI,Rating',
    '2024-03-02,Metropolis,1927,https://boxd.it/2a,0.5',
    'letterboxd',
    { title: 'Metropolis', year: '1927', rating: 0.5, date: '2024-03-02' },
  ],
  [
    'a diary of Letterboxd',
    'Date,Name,Year,Letterboxd URI,Rating,Rewatch,Tags,Watched Date',
    '2024-03-02,Metropolis,1927,https://boxd.it/2a,3,,,2024-03-01',
    'letterboxd',
    { title: 'Metropolis', rating: 3, date: '2024-03-01' },
  ],
  [
    'a library of Goodreads',
    goodreads,
    '2767052,"The Hunger Games (The Hunger Games, #1)",Suzanne Collins,"Collins, Suzanne",,"=""0439023483""","=""9780439023481""",5,4.33,Scholastic Press,Hardcover,374,2010,2008,2023/05/14,2023/01/02,,,read,"One line of it.<br/><br/>Another &amp; the <i>last</i>.",,private,2,0',
    'goodreads',
    {
      title: 'The Hunger Games',
      by: 'Suzanne Collins',
      year: '2008',
      rating: 5,
      text: 'One line of it.\n\nAnother & the last.',
      date: '2023-05-14',
    },
  ],
  [
    'an older library of Goodreads, whose numbers are formulas',
    goodreads,
    '1,Dune,Frank Herbert,"Herbert, Frank",,="0441013597",="9780441013593",4,4.2,Ace,Paperback,412,1990,1965,,2024/03/01,,,read,,,,1,0',
    'goodreads',
    { title: 'Dune', by: 'Frank Herbert', year: '1965', rating: 4, date: '2024-03-01' },
  ],
  [
    'a library of StoryGraph',
    storygraph,
    `Piranesi,"Susanna Clarke, Another",,9781635575637,digital,read,2022/03/01,2022/03/20,2022/03/05-2022/03/20,1,mysterious,medium,,,,,,4.25,"<div>${long}</div>",,,,No`,
    'storygraph',
    { title: 'Piranesi', by: 'Susanna Clarke', rating: 4.25, text: long, date: '2022-03-20' },
  ],
])('reads %s', async (_, header, row, site, expected) => {
  const table = await readTable(`${header}\n${row}\n`);
  expect(table).toMatchObject({ site, empty: 0, rows: [{ line: 2, ...expected }] });
  expect(table.rows[0]?.state).toBeUndefined();
});

test('reads a byte order mark, CRLF, quotes, and line breaks in texts, with the line of each row', async () => {
  const rows = [
    `\uFEFF${letterboxd}`,
    '2024-03-02,"Say ""Hi"", twice",1990,https://boxd.it/1,4,,"First of the lines,\r\nthen the second.",,',
    '',
    '2024-03-02,Second,1991,https://boxd.it/2,3,,,,',
    '2024-03-02,Third,1992,https://boxd.it/3,ten,,,,',
    '2024-03-02,Fourth,1993,https://boxd.it/4,2,,,,',
  ];
  expect((await readTable(rows.join('\r\n'))).rows).toMatchObject([
    { line: 2, title: 'Say "Hi", twice', text: 'First of the lines,\nthen the second.' },
    { line: 5, title: 'Second', rating: 3 },
    { line: 6, title: 'Third', state: 'bad', why: expect.stringContaining('“ten”') },
    { line: 7, title: 'Fourth', rating: 2 },
  ]);
});

test.each([
  ['too few columns', '2024-03-02,Name', 'It has 2 columns, not 9'],
  ['no title', '2024-03-02,,1990,u,4,,,,', 'It has no title'],
  ['six stars', '2024-03-02,Six,1990,u,6,,,,', '“6”'],
  ['a third of a star', '2024-03-02,Third,1990,u,3.33,,,,', '“3.33”'],
  ['less than none', '2024-03-02,Less,1990,u,-1,,,,', '“-1”'],
  ['a long title', `2024-03-02,${'x'.repeat(201)},1990,u,4,,,,`, '200 characters'],
  ['a short text alone', '2024-03-02,Short,1990,u,,,tiny,,', '25 to 5000 characters, not 4'],
  ['a quotation that never ends', '2024-03-02,"Open,1990,u,4,,,,\nmore', 'never ends'],
])('leaves out a row with %s, and nothing else', async (_, row, why) => {
  const before = '2024-03-02,Before,1989,u,5,,,,';
  expect(await read(letterboxd, before, row)).toMatchObject([
    { line: 2, title: 'Before' },
    { line: 3, state: 'bad', why: expect.stringContaining(why) },
  ]);
});

test('takes the stars alone if the text is too short or too long', async () => {
  const rows = await read(
    letterboxd,
    '2024-03-02,Short,1990,u,3,,tiny,,',
    `2024-03-02,Long,1990,u,4,,${'x'.repeat(5001)},,`,
    `2024-03-02,Just,1990,u,5,,${'😀'.repeat(5000)},,`,
  );
  expect(rows).toMatchObject([
    { rating: 3, why: 'Only the stars: the text must have 25 to 5000 characters, not 4' },
    { rating: 4, why: 'Only the stars: the text must have 25 to 5000 characters, not 5001' },
    { rating: 5, text: '😀'.repeat(5000) },
  ]);
  expect(rows.map(({ text, state }) => [text?.length, state])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
    [10_000, undefined],
  ]);
});

test('counts rows without stars and text, and keeps one of several about the same', async () => {
  const { rows, empty } = await readTable(
    [
      letterboxd,
      '2024-03-02,To be seen,1990,u,,,,,',
      '2024-03-02,Zero,1990,u,0,,,,',
      `2021-03-02,Twice,1990,u,3,,"${long}",,`,
      '2024-03-02,TWICE,1990,u,5,Yes,,,',
      '2024-03-02,Twice,2020,u,1,,,,',
    ].join('\n'),
  );
  expect(empty).toBe(2);
  expect(rows.map(({ line, state, why }) => [line, state, why])).toEqual([
    [4, undefined, undefined],
    [5, 'have', 'Line 4 of the file is about the same'],
    [6, undefined, undefined],
  ]);
});

test.each([
  ['nothing', ''],
  ['a picture', '\x89PNG\r\n'],
  ['what was seen without stars', 'Date,Name,Year,Letterboxd URI\n2024-03-02,Solaris,1972,u'],
  ['a table of ours', 'id,entity,rating\n1,2,3'],
])('does not take %s', async (_, text) => {
  await expect(readTable(text)).rejects.toThrow('unknown table');
});

test('takes 5,000 rows and no more', async () => {
  const rows = Array.from({ length: 5_001 }, (_, i) => `2024-03-02,Film ${i},1990,u,4,,,,`);
  expect(await read(letterboxd, ...rows.slice(1))).toHaveLength(5_000);
  await expect(read(letterboxd, ...rows)).rejects.toThrow('too many rows');
});
