import { expect, test } from 'vitest'
import type { Style } from './style.ts'
import { createTerminalMarkdown } from './terminal-markdown.ts'

const tag = (name: string) => (text: string) => `<${name}>${text}</${name}>`
const style: Style = {
  bold: tag('b'),
  dim: tag('dim'),
  italic: tag('i'),
  underline: tag('u'),
  red: tag('red'),
  green: tag('green'),
  yellow: tag('yellow'),
  cyan: tag('c'),
}

function rendered(text: string, size = text.length): string {
  const markdown = createTerminalMarkdown(style)
  let out = ''
  for (let at = 0; at < text.length; at += size) out += markdown.add(text.slice(at, at + size))
  return out + markdown.end()
}

const PAGE = `# A *first* heading

Some **bold \`code\`**, *italic*, __more__ and \`a ** b\`.
Not marks: 2 * 3 * 4, snake_case_name, a ** b, [x], \\*stars\\*, 5 _ 6 and *open

- one
* two with [a link](https://example.com/a_(b))
  + three
1. first
2) second

> quoted **text**

---
| a | b |
\`\`\`js
const a = 6 * 7 // **not bold**
# no heading

\`\`\`
[https://a.example](https://a.example) end`

const SHOWN = `<b>A <i>first</i> heading</b>

Some <b>bold <c>code</c></b>, <i>italic</i>, <b>more</b> and <c>a ** b</c>.
Not marks: 2 * 3 * 4, snake_case_name, a ** b, [x], *stars*, 5 _ 6 and *open

• one
• two with <u>a link</u> (<c>https://example.com/a_(b)</c>)
  • three
1. first
2) second

<dim>│ </dim>quoted <b>text</b>

<dim>────────────────</dim>
| a | b |
  <c>const a = 6 * 7 // **not bold**</c>
  <c># no heading</c>
  <c></c>
<u>https://a.example</u> end`

test('renders bold, code, lists, headings, quotations, fences and links, and changes nothing else', () => {
  expect(rendered(PAGE)).toBe(SHOWN)
})

test.each([1, 2, 3, 5, 7, 11])('renders the same from pieces of %i characters', (size) => {
  expect(rendered(PAGE, size)).toBe(SHOWN)
})

test('prints text as it comes, and holds back only an open mark, not for long', () => {
  const markdown = createTerminalMarkdown(style)

  expect(markdown.add('Hello wor')).toBe('Hello wor')
  expect(markdown.add('ld, **bo')).toBe('ld, ')
  expect(markdown.add('ld** and')).toBe('<b>bold</b> and')
  expect(markdown.add(' *')).toBe(' ')
  expect(markdown.add(`x${'y'.repeat(600)}`)).toBe(`*x${'y'.repeat(600)}`)
  expect(markdown.end()).toBe('')
})

test.each([50, 1_000_000])('many open marks in pieces of %i do not take long', (size) => {
  const before = process.threadCpuUsage()
  for (const mark of ['*a ', '**a', '_ _', '[`_', '`a``', '[a](', '[a](b(', '\\', '- ', '```']) {
    rendered(mark.repeat(10_000), size)
  }

  expect(process.threadCpuUsage(before).user).toBeLessThan(20_000_000)
})
