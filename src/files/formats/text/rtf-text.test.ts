import { expect, test } from 'vitest'
import { isRtf, rtfText } from './rtf-text.ts'

test.each<[what: string, rtf: string, text: string]>([
  [
    'words without their formatting',
    '{\\rtf1\\ansi {\\b Order} 7 is {\\i late}.\\par Sorry.}',
    'Order 7 is late.\nSorry.',
  ],
  [
    'no fonts, colours, pictures or headers',
    '{\\rtf1{\\fonttbl{\\f0 Arial;}}{\\colortbl;\\red0;}{\\pict 89504e47}{\\header Page}Hi}',
    'Hi',
  ],
  ['no group that old programs may skip', '{\\rtf1{\\*\\generator Riched20 10.0;}Hi}', 'Hi'],
  ['letters of the code page', "{\\rtf1\\ansi\\ansicpg1252 Z\\'fcrich, 5\\'80}", 'Zürich, 5€'],
  ['letters of another one', "{\\rtf1\\ansi\\ansicpg1251 \\'cf\\'f0\\'e8\\'e2\\'e5\\'f2}", 'Привет'],
  ['letters of two bytes', "{\\rtf1\\ansi\\ansicpg932 \\'93\\'fa\\'96\\'7b}", '日本'],
  ['Unicode, once', "{\\rtf1\\uc1 5\\u8364\\'80, \\u8364?.}", '5€, €.'],
  ['Unicode beyond 32,767, and in two halves', '{\\rtf1\\uc0 \\u-10179\\u-8704 }', '😀'],
  ['a table', '{\\rtf1 Name\\cell Price\\cell\\row Tea\\cell 3\\cell\\row}', 'Name | Price | \nTea | 3 |'],
  [
    'a link by its words',
    '{\\rtf1 See {\\field{\\*\\fldinst HYPERLINK "https://a.b"}{\\fldrslt our page}}.}',
    'See our page.',
  ],
  ['braces and backslashes', '{\\rtf1 \\{a\\} \\\\ b\\~c}', '{a} \\ b c'],
  ['nothing of binary data', '{\\rtf1 a{\\*\\x\\bin3 }}}}b}', 'ab'],
  ['what is there of a broken file', '{\\rtf1 a}}}} b {{{\\', 'a b'],
  ['line ends of the file itself as nothing', '{\\rtf1 One\n two\\\nthree}', 'One two\nthree'],
])('reads %s', (_what, rtf, text) => {
  expect(isRtf(rtf)).toBe(true)
  expect(rtfText(rtf)).toBe(text)
})

test('takes time in proportion to its size, however deep its groups are', () => {
  const before = performance.now()

  rtfText(`{\\rtf1${'{'.repeat(1_000_000)}${"\\'41".repeat(250_000)}`)

  expect(performance.now() - before).toBeLessThan(5_000)
})
