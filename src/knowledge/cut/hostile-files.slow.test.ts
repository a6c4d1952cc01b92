import { expect, test } from 'vitest'
import type { FileType } from '../../domain/session/file.ts'
import { cutPassages } from './cut-passages.ts'

const many = (text: string, count: number): string => text.repeat(count)
const numbered = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')

const texts: readonly (readonly [what: string, name: string, text: string])[] = [
  ['10 MB of one line', 'a.md', many('word ', 2_000_000)],
  ['10 MB of one word', 'a.txt', many('x', 10_000_000)],
  ['a line of kanji', 'a.txt', many('漢', 3_000_000)],
  ['a line of emoji', 'a.txt', many('😀', 1_000_000)],
  ['100,000 headings', 'a.md', numbered(100_000, (i) => `${many('#', (i % 6) + 1)} Heading ${i}`)],
  ['100,000 headings with text', 'a.md', numbered(100_000, (i) => `${many('#', (i % 6) + 1)} Heading ${i}\n\nText.\n`)],
  ['100,000 underlined headings', 'a.rst', numbered(100_000, (i) => `Heading ${i}\n----------------\n`)],
  ['100,000 numbered headings', 'a.txt', numbered(100_000, (i) => `${i % 999}. Heading\n\n   Text\n`)],
  ['lines that may be underlines', 'a.rst', many('=====\n', 500_000)],
  ['a deep list', 'a.md', numbered(3_000, (i) => `${many(' ', i)}- item`)],
  ['a long list', 'a.md', many('- item\n', 500_000)],
  [
    'a table of 100,000 rows',
    'a.md',
    `| a | b |\n| --- | --- |\n${numbered(100_000, (i) => `| ${i} | text of the row |`)}`,
  ],
  [
    'a table whose header is long',
    'a.md',
    `| ${many('a |', 100_000)}\n| ${many('--- |', 100_000)}\n${many('| 1 |\n', 100_000)}`,
  ],
  ['many rules of tables', 'a.md', many('|---|\n', 300_000)],
  ['code that is never closed', 'a.md', `\`\`\`\n${many('code()\n', 500_000)}`],
  ['many fences', 'a.md', many('```\na\n', 300_000)],
  ['blank lines', 'a.txt', many('\n', 5_000_000)],
  ['spaces', 'a.md', many(' ', 10_000_000)],
  ['lines of spaces', 'a.txt', many(`${many(' ', 1_000)}\n`, 5_000)],
  ['front matter that is never closed', 'a.md', many('---\ntitle: a\n', 300_000)],
  ['lines of code', 'a.ts', many('function a() {\n\n}\n\n', 200_000)],
  ['minified code', 'a.js', many('a.b(c);', 1_000_000)],
  ['footers', 'a.txt', many('text\n[Page 1]\n', 200_000)],
  ['a million `<`', 'a.html', many('<', 1_000_000)],
  ['tags that never end', 'a.html', many('<a ', 1_000_000)],
  ['quotes that never end', 'a.html', many('<a x="', 500_000)],
  ['quotes of both kinds', 'a.html', `${many(`<a x="'>`, 300_000)}`],
  ['tags on one line', 'a.html', many('<b>x</b> ', 500_000)],
  ['comments that never end', 'a.html', many('<!-- ', 500_000)],
  ['lists in lists', 'a.html', many('<ul><li>a', 300_000)],
  ['tables in tables', 'a.html', many('<table><tr><td>a', 200_000)],
  ['cells in one row', 'a.html', `<table><tr>${many('<td>a', 300_000)}`],
  ['scripts that never end', 'a.html', many('<nav><svg>', 300_000)],
  ['scripts that end', 'a.html', many('<script>a</script>', 200_000)],
  ['entities', 'a.html', many('&amp', 1_000_000)],
  ['headings of a page', 'a.html', many('<title>T</title><h1>T</h1>', 100_000)],
  ['breaks', 'a.html', many('<br> ', 500_000)],
  ['preformatted text', 'a.html', many('<pre> ', 300_000)],
]

function cpuSeconds(work: () => void): number {
  const start = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1e6
}

test.each(texts)('%s is cut in linear time', (_, name, text) => {
  const type: FileType = name.endsWith('.md') ? 'text/markdown' : 'text/plain'
  let longest = 0
  const seconds = cpuSeconds(() => {
    for (const passage of cutPassages({ sections: [{ label: '', text }], notes: [] }, { name, type }))
      longest = Math.max(longest, passage.text.length)
  })
  expect(longest).toBeLessThanOrEqual(2_400)
  expect(seconds).toBeLessThan(4)
})

test('5,000 pages with the same lines are cut in linear time', () => {
  const sections = Array.from({ length: 5_000 }, (_, i) => ({
    label: `page ${i + 1}`,
    text: numbered(20, (n) => `${n}. Line of page`),
  }))
  expect(
    cpuSeconds(() => cutPassages({ sections, notes: [] }, { name: 'a.pdf', type: 'application/pdf' })),
  ).toBeLessThan(4)
})
