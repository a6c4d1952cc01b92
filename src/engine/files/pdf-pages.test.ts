import { expect, test } from 'vitest'
import { estimatePages } from './pdf-pages.ts'

test.each([
  ['its page objects', '<< /Type /Pages /Count 2 >> << /Type /Page >> << /Type/Page/Parent 1 0 R >>', 2],
  ['the count of its tree', '<< /Type /Pages /Kids [] /Count 120 >>', 120],
  ['its size, where neither lies open', 'x'.repeat(250_000), 3],
  ['its size, where the tree says nothing', '/Count 0', 1],
])('pages are told by %s', (_, text, pages) => {
  expect(estimatePages(Buffer.from(text))).toBe(pages)
})
