import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { channels, titleOf } from './channels.ts'

test('every kind of channel that has a declaration is listed, under a name of its own', () => {
  const declared = globSync('*/channel.ts', { cwd: import.meta.dirname })

  expect(new Set(channels.map(({ name }) => name)).size).toBe(declared.length)
})

test('the word for a column of doctor fits into it', () => {
  expect(channels.map(({ words }) => words.short).filter((word) => word.length > 6)).toEqual([])
})

test.each([
  ['slack:C012AB3CD:lines', 'Slack'],
  ['push:ada', 'Web Push'],
  ['bell', 'Terminal'],
  ['carrier-pigeon:ada', 'carrier-pigeon:ada'],
])('people call %s %s', (channel, title) => {
  expect(titleOf(channel)).toBe(title)
})
