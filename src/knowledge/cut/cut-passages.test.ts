import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FileType } from '../../domain/session/file.ts'
import { cutPassages, documentText } from './cut-passages.ts'
import type { CutPassage } from './pack.ts'
import { tokensOf } from './split.ts'

const cut = (name: string, text: string, type: FileType = name.endsWith('.md') ? 'text/markdown' : 'text/plain') =>
  cutPassages({ sections: [{ label: '', text }], notes: [] }, { name, type })
const pages = (texts: readonly string[], type: FileType = 'application/pdf', part = 'page') =>
  cutPassages(
    { sections: texts.map((text, i) => ({ label: `${part} ${i + 1}`, text })), notes: [] },
    { name: 'a', type },
  )

/** `Title > Part @line+: text`, with `+` where it continues. */
const shown = (passages: readonly CutPassage[]): string[] =>
  passages.map(({ headings, text, place, continues }) => {
    const where = place.page ?? place.slide ?? place.sheet ?? place.line ?? '-'
    return `${headings.join(' > ')} @${where}${continues ? '+' : ''}: ${text}`
  })

/** A paragraph of about so many tokens. */
const prose = (tokens: number, word = 'harbour'): string =>
  Array.from(
    { length: Math.ceil((tokens * 4) / 48) },
    (_, i) => `The ${word} number ${i + 100} has a crane and a pilot.`,
  ).join(' ')

describe('Markdown', () => {
  test('a section is a passage with the path of its headings', () => {
    const text = `# Handbook\n\n${prose(150)}\n\n## Leave\n\n${prose(160, 'leave')}\n\n### Parental leave ###\n\n${prose(170, 'parent')}\n\nTravel\n------\n\n${prose(180, 'trip')}\n`
    expect(shown(cut('a.md', text))).toEqual([
      `Handbook @3: ${prose(150)}`,
      `Handbook > Leave @7: ${prose(160, 'leave')}`,
      `Handbook > Leave > Parental leave @11: ${prose(170, 'parent')}`,
      `Handbook > Travel @16: ${prose(180, 'trip')}`,
    ])
  })

  test('tiny sections below one heading share a passage, with their headings as lines', () => {
    const text = `# Glossary\n\n## Berth\nA place for a ship.\n\n## Crane\nIt lifts.\n\n# Prices\n\n${prose(200)}`
    expect(shown(cut('a.md', text))).toEqual([
      'Glossary @3: ## Berth\n\nA place for a ship.\n\n## Crane\n\nIt lifts.',
      `Prices @11: ${prose(200)}`,
    ])
  })

  test('a heading without a text is not lost', () => {
    expect(shown(cut('a.md', `# A\n# B\n\n${prose(200)}\n\n# C`))).toEqual([`B @1: # A\n\n${prose(200)}`, ' @6: # C'])
    expect(shown(cut('a.md', '# A\n## B\n'))).toEqual(['A @2: ## B'])
  })

  test('the title of the front matter is above all headings, and marks in headings are not kept', () => {
    const text = '---\ntitle: "Handbook"\ntags: [a]\n---\n\n# [Leave](leave.md) <a id="x"></a>\n\nAsk early.'
    expect(shown(cut('a.md', text))).toEqual(['Handbook @2: title: "Handbook"\ntags: [a]\n\n# Leave\n\nAsk early.'])
  })

  test('a table that is cut repeats its header', () => {
    const rows = Array.from({ length: 60 }, (_, i) => `| Article ${i} | ${i * 3} EUR | in the store on the left |`)
    const passages = cut('a.md', `# Prices\n\n| Article | Price | Place |\n| --- | --- | --- |\n${rows.join('\n')}\n`)
    expect(passages.map(({ text }) => text.split('\n').slice(0, 2))).toEqual(
      passages.map(() => ['| Article | Price | Place |', '| --- | --- | --- |']),
    )
    expect(passages.flatMap(({ text }) => text.split('\n').slice(2))).toEqual(rows)
    expect(passages.map(({ continues }) => continues)).toEqual([false, true])
    expect(passages.map(({ place, text }) => [place.line, text.split('\n')[2]])).toEqual([
      [5, rows[0]],
      [5 + rows.indexOf(passages[1]?.text.split('\n')[2] ?? ''), passages[1]?.text.split('\n')[2]],
    ])
  })

  test('code that is cut has its fences in each part, and no broken line', () => {
    const lines = Array.from({ length: 120 }, (_, i) => `  const value${i} = compute(${i})`)
    const passages = cut('a.md', `# Code\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n`)
    expect(passages.map(({ text }) => [text.split('\n')[0], text.split('\n').at(-1)])).toEqual(
      passages.map(() => ['```ts', '```']),
    )
    expect(passages.flatMap(({ text }) => text.split('\n').slice(1, -1))).toEqual(lines)
    expect(passages.map(({ continues }) => continues)).toEqual([false, true, true])
  })

  test('a `#` in code is not a heading', () => {
    expect(cut('a.md', '```sh\n# not a heading\n```\n')).toMatchObject([{ headings: [] }])
  })

  test('a list keeps its nesting, and says that it goes on', () => {
    const items = Array.from({ length: 40 }, (_, i) => `- Step ${i}: ${prose(12)}\n    - a detail\n      of it`)
    const passages = cut('a.md', `# Steps\n\nDo this:\n\n${items.join('\n')}\n\nDone.`)
    expect(passages.map(({ text }) => text).join('\n')).toBe(`Do this:\n\n${items.join('\n')}\n\nDone.`)
    expect(passages.map(({ continues }) => continues)).toEqual([false, ...passages.slice(1).map(() => true)])
  })

  test('a line that leads on stays with what follows', () => {
    const text = `${prose(340)}\n\nThe prices are:\n\n${prose(340, 'price')}`
    expect(cut('a.md', text).map(({ text }) => text.split('\n')[0])).toEqual([prose(340), 'The prices are:'])
  })

  test.each([
    ['de', 'Der Hafen schließt um 22 Uhr. '],
    ['fr', 'Le port ferme à 22 heures ! '],
    ['es', '¿Cuándo cierra el puerto? '],
    ['ru', 'Порт закрывается в 22 часа. '],
    ['ja', '港は二十二時に閉まります。'],
    ['en', 'The port (“harbour”) closes at 10 p.m. sharp. '],
  ])('a huge paragraph in %s is cut at sentences', (_, sentence) => {
    const passages = cut('a.md', sentence.repeat(150).trim())
    expect(passages.map(({ text }) => text.endsWith(sentence.trim()))).toEqual(passages.map(() => true))
    expect(
      passages
        .map(({ text }) => text)
        .join(' ')
        .replace(/\s/g, ''),
    ).toBe(sentence.repeat(150).replace(/\s/g, ''))
    const sizes = passages.map(({ text }) => tokensOf(text))
    expect(sizes.filter((size) => size < 150 || size > 500)).toEqual([])
  })
})

describe('plain text', () => {
  test('a manual in a language without capitals has its headings too', () => {
    const part = (n: number) => `       ${prose(220, `説明${n}`).replaceAll('. ', '.\n       ')}`
    const text = `VSFTPD.CONF 5\n\n名前\n${part(1)}\n\n真偽値オプション\n${part(2)}\n\n   小見出し\n${part(3)}\n\nOptions générales\n${part(4)}\n`
    expect(cut('vsftpd.conf.5.txt', text).map(({ headings }) => headings.join(' > '))).toEqual([
      '名前',
      '真偽値オプション',
      '真偽値オプション > 小見出し',
      'Options générales',
    ])
  })

  test('an RFC: numbered headings, without the footers and headers of its pages', () => {
    const page = (n: number, body: string) =>
      `${body}\n\n\n\nFielding, et al.             Standards Track                    [Page ${n}]\n\nRFC 7230           HTTP/1.1 Message Syntax and Routing         June 2014\n\n`
    const about = (word: string) => `   ${prose(150, word).replaceAll('. ', '.\n   ')}`
    const text = [
      page(
        1,
        `Abstract\n\n${about('abstract')}\n\nTable of Contents\n\n   1.  Introduction . . . . . . . . . 5\n   3.2.  Header Fields . . . . . . . 22`,
      ),
      page(2, `1.  Introduction\n\n${about('intro')}`),
      page(
        3,
        `3.2.  Header Fields\n\n${about('field')}\n\n   Each header field consists of a case-insensitive field name followed by`,
      ),
      page(4, `   a colon, optional leading whitespace, and the field value.\n\n${about('value')}`),
      page(5, `Appendix A.  Collected ABNF\n\n${about('grammar')}`),
    ].join('')
    const passages = cut('rfc7230.txt', text)
    expect(passages.map(({ headings }) => headings.join(' > '))).toEqual([
      'Abstract',
      '1.  Introduction',
      '1.  Introduction > 3.2.  Header Fields',
      'Appendix A.  Collected ABNF',
    ])
    expect(passages[2]?.text).toContain('followed by\n   a colon')
    expect(
      passages
        .map(({ text }) => text)
        .join('\n')
        .match(/\[Page \d+\]|RFC 7230/g),
    ).toEqual(['[Page 1]', 'RFC 7230'])
  })

  test('a manual page', () => {
    const about = (word: string) => `       ${prose(120, word).replaceAll('. ', '.\n       ')}`
    const text = `LS(1)        User Commands        LS(1)\n\nNAME\n       ls - list directory contents\n\nDESCRIPTION\n${about('file')}\n\n   Exit status:\n       0      if OK\n\n   Sorting\n${about('sort')}\n\nSEE ALSO\n${about('other')}\n`
    expect(cut('ls.1', text).map(({ headings, place }) => [headings.join(' > '), place.line])).toEqual([
      ['', 1],
      ['DESCRIPTION', 7],
      ['DESCRIPTION > Sorting', 22],
      ['SEE ALSO', 34],
    ])
  })

  test('underlined headings have levels in the order of their signs', () => {
    const text = `=====\nGuide\n=====\n\n${prose(150)}\n\nInstall\n-------\n\n${prose(160)}\n\nUbuntu\n~~~~~~\n\n${prose(170)}\n\nUse\n---\n\n${prose(180)}`
    expect(cut('a.rst', text).map(({ headings }) => headings.join(' > '))).toEqual([
      'Guide',
      'Guide > Install',
      'Guide > Install > Ubuntu',
      'Guide > Use',
    ])
  })

  test('a comment with a `#` is not a heading', () => {
    expect(shown(cut('settings.txt', '# a comment\nkey = 1\n# another\nother = 2'))).toEqual([
      ' @1: # a comment\nkey = 1\n# another\nother = 2',
    ])
  })
})

describe('code', () => {
  test('is cut between functions, and never within a line', () => {
    const body = (name: string) =>
      `export function ${name}() {\n${Array.from({ length: 33 }, (_, i) => `  const some${i} = compute(${i}, '${name}')`).join('\n')}\n\n  return 1\n}`
    const text = ['one', 'two', 'three', 'four'].map(body).join('\n\n')
    const passages = cut('a.ts', text)
    expect(shown(passages)).toEqual(['one', 'two', 'three', 'four'].map((name, i) => ` @${1 + i * 38}: ${body(name)}`))
  })

  test('a long function goes on', () => {
    const lines = Array.from({ length: 200 }, (_, i) => `    value_${i} = compute(${i})`)
    const passages = cut('a.py', `def main():\n${lines.join('\n')}\n`)
    expect(passages.map(({ text }) => text).join('\n')).toBe(`def main():\n${lines.join('\n')}`)
    expect(passages.map(({ continues }) => continues)).toEqual([false, ...passages.slice(1).map(() => true)])
    expect(
      passages.map(
        ({ place, text }) =>
          text.split('\n')[0] === `def main():\n${lines.join('\n')}`.split('\n')[(place.line ?? 0) - 1],
      ),
    ).toEqual(passages.map(() => true))
  })
})

describe('tables', () => {
  test('a short CSV repeats its header, and knows its lines', () => {
    const rows = Array.from({ length: 90 }, (_, i) => `${i},Straße ${i},"München, ${i}"`)
    const passages = cut('a.csv', `id,street,city\n${rows.join('\n')}\n`, 'text/csv')
    expect(passages.map(({ text }) => text.split('\n')[0])).toEqual(passages.map(() => 'id,street,city'))
    expect(passages.flatMap(({ text }) => text.split('\n').slice(1))).toEqual(rows)
    expect(passages.map(({ place }) => place.line)).toEqual([
      2,
      2 + Number(passages[1]?.text.split('\n')[1]?.split(',')[0]),
    ])
  })

  test('a long CSV was read as Markdown, and its lines are not known', () => {
    expect(cut('a.csv', '| a | b |\n| --- | --- |\n| 1 | 2 |', 'text/csv')).toEqual([
      {
        text: '| a | b |\n| --- | --- |\n| 1 | 2 |',
        headings: [],
        place: { page: null, sheet: null, slide: null, line: null },
        continues: false,
      },
    ])
  })

  test('sheets have their names, and a sheet that was read in sections goes on', () => {
    const table = (id: number) => `| id |\n| --- |\n| ${id} |`
    const extract = {
      sections: [
        { label: 'sheet Orders', text: table(1) },
        { label: 'sheet Orders rows 2-3', text: table(2) },
        { label: 'sheet Stock', text: table(3) },
      ],
      notes: [],
    }
    const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
    expect(shown(cutPassages(extract, { name: 'a.xlsx', type }))).toEqual([
      `Orders @Orders: ${table(1)}`,
      `Orders @Orders+: ${table(2)}`,
      `Stock @Stock: ${table(3)}`,
    ])
  })
})

test('slides are passages of their own', () => {
  const type = 'application/vnd.openxmlformats-officedocument.presentationml.presentation'
  expect(shown(pages(['# Plan\n\n- One', '', '# Costs\n\nNone.'], type, 'slide'))).toEqual([
    'Plan @1: - One',
    'Costs @3: None.',
  ])
})

describe('PDF', () => {
  const about = (word: string) => prose(140, word).replaceAll('. ', '.\n')

  test('headings are found, and headers, footers and page numbers are not text', () => {
    const page = (n: number, text: string) => `Hafenordnung\n${text}\nStand: Mai 2024\n${n}`
    const passages = pages([
      page(1, `1 Einleitung\n${about('Hafen')}`),
      page(2, `2 Betrieb\n2.1 Öffnungszeiten\n${about('Uhr')}\nDie Schranke wird nur in der Nacht und an`),
      page(3, `den Feiertagen geschlossen.\nZUTRITT FÜR GÄSTE\n${about('Gast')}`),
      page(4, `2.2 Kräne\n${about('Kran')}\n1. Haken prüfen\n2. Seil prüfen`),
    ])
    expect(passages.map(({ headings, place }) => [headings.join(' > '), place.page])).toEqual([
      ['', 1],
      ['1 Einleitung', 1],
      ['2 Betrieb > 2.1 Öffnungszeiten', 2],
      ['ZUTRITT FÜR GÄSTE', 3],
      ['ZUTRITT FÜR GÄSTE > 2.2 Kräne', 4],
    ])
    expect(passages[2]?.text).toMatch(/in der Nacht und an\nden Feiertagen geschlossen\.$/)
    const all = passages.map(({ text }) => text).join('\n')
    expect(all.match(/Hafenordnung|Stand: Mai/g)).toEqual(['Hafenordnung', 'Stand: Mai'])
    expect(all).not.toMatch(/^\d$/m)
  })

  test('a table of contents has no headings, and its lines that lead to a page are left out', () => {
    const toc = 'Contents\n1 Introduction .......... 3\n1.1 Aims . . . . . . . 4\n2 Methods   12'
    expect(shown(pages([toc]))).toEqual([' @1: Contents\n2 Methods   12'])
  })
})

describe('HTML', () => {
  const page = `<!DOCTYPE html><html><head><title>Leave &amp; Travel</title><style>b{}</style><script>if (a<b) "</p>"</script></head>
<body><nav><a href="/">Home</a></nav><h1>Leave &amp; Travel</h1><p>Everybody has <b>30</b>&nbsp;days<br>of leave&period; Caf&eacute; &#8364; &#x20AC;.
<!-- hidden --><h2 class="a>b">Parental <i>leave</i></h2>
<ul><li>Ask early<ul><li>in <a href="x">writing</a></ul><li>Wait</ul>
<ol><li><p>First</p><li>Second</ol>
<table><caption>Days</caption><tr><th>Kind<th>Days<tr><td>Sick | ill<td>10</table>
<pre>a &lt; b
  c</pre><dl><dt>Term<dd>Meaning</dl><img src=x alt="A crane">`

  test('becomes headings, paragraphs, lists, tables and code', () => {
    expect(shown(cut('a.html', page))).toEqual([
      'Leave & Travel @2: Everybody has 30 days\nof leave&period; Café € €.',
      `Leave & Travel > Parental leave @4: - Ask early
    - in writing
- Wait

1. First
2. Second

Days

| Kind | Days |
| --- | --- |
| Sick \\| ill | 10 |

\`\`\`
a < b
  c
\`\`\`

Term
Meaning

A crane`,
    ])
  })

  test('what stands around the main part is left out', () => {
    const text = `<title>T</title><header>Menu Search</header><main><h1>A</h1><p>${prose(100)}</p></main><footer>Imprint</footer>`
    expect(shown(cut('a.htm', text))).toEqual([`T > A @1: ${prose(100)}`])
  })

  test('a table that lays out a page is not a table', () => {
    const text = `<table><tr><td>Menu<td><h1>A</h1><p>Text</p><table><tr><td>a<td>b<tr><td>1<td>2</table></table>Rest`
    expect(shown(cut('a.html', text))).toEqual([
      ' @1: Menu\n\n# A\n\nText\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nRest',
    ])
  })

  test('what is never closed is kept', () => {
    expect(shown(cut('a.html', '<nav>a <p>b <svg> c <table><tr><td>d <li>e <a href="f'))).toEqual([
      ' @1: a\n\nb c\n\nd e <a href="f',
    ])
  })
})

test('the text of a document begins with its headings', () => {
  expect([documentText({ headings: ['A', 'B'], text: 'c' }), documentText({ headings: [], text: 'c' })]).toEqual([
    'A > B\n\nc',
    'c',
  ])
})

const names = ['a.md', 'a.txt', 'a.rst', 'a.ts', 'a.csv', 'README']
const lines = fc.array(
  fc.oneof(
    fc.lorem({ maxCount: 400 }),
    fc.lorem({ maxCount: 3, mode: 'words' }),
    fc.constantFrom(
      '',
      '',
      '# ',
      '```',
      '---',
      '| a | b |',
      '| --- | --- |',
      '1. ',
      '    - ',
      '<!--',
      '===',
      'ABC DEF',
      '> ',
      '\t',
    ),
    fc
      .tuple(
        fc.constantFrom('# ', '## ', '- ', '  * ', '3.2. ', '| ', '    ', '2) '),
        fc.lorem({ maxCount: 30, mode: 'words' }),
      )
      .map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
  ),
  { maxLength: 60 },
)
const wordsOf = (text: string): string[] => text.match(/[a-z]+/gi) ?? []

test('no word is lost, and no passage is too long', () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), lines, (name, given) => {
      const text = given.join('\n')
      const passages = cut(name, text, name === 'a.csv' ? 'text/csv' : undefined)
      const kept = new Set(wordsOf(passages.flatMap(({ headings, text }) => [...headings, text]).join('\n')))
      const said = new Set(wordsOf(text))
      const isLong = (word: string) => word.length > 40
      expect([...said].filter((word) => !kept.has(word) && !isLong(word))).toEqual([])
      expect([...kept].filter((word) => !said.has(word) && !isLong(word))).toEqual([])
      expect(passages.filter(({ text }) => text.length > 2_400 || text.trim() === '')).toEqual([])
    }),
    { numRuns: 300 },
  )
})
