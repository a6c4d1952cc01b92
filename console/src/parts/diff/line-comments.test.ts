import { expect, test } from 'vitest'
import { commentsText, placeIn } from './line-comments.ts'
import { type DiffLine, parseDiff } from './parse-diff.ts'

test('the agent reads where, what and the line itself', () => {
  const [file] = parseDiff('--- a/src/a.ts\n+++ b/src/a.ts\n@@ -11,1 +12,1 @@\n-  slow()\n+  fast()\n')
  const lines = (file?.entries ?? []).filter((entry): entry is DiffLine => 'newNumber' in entry)
  const comments = lines.map((line, i) => ({
    ...placeIn(file ?? { ...emptyFile }, line),
    text: i === 0 ? ' Keep it. ' : 'Is it?\nSay why.',
  }))
  expect(commentsText([...comments.toReversed(), { ...placeIn(emptyFile, lines[0] as DiffLine), text: ' ' }])).toBe(
    'src/a.ts:11 (removed) — Keep it.\n> slow()\n\nsrc/a.ts:12 — Is it?\nSay why.\n> fast()',
  )
})

const emptyFile = { name: 'a', formerName: null, kind: 'modify', added: 0, removed: 0, entries: [] as never[] } as const
