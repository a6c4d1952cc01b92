import { expect, test } from 'vitest'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { matchLabel } from './match-label.ts'

test.each<[WorkMatch, string]>([
  [{ type: 'command', command: 'npm test', folder: '' }, 'This command: npm test'],
  [{ type: 'command', command: 'npm test', folder: 'packages/a' }, 'This command in packages/a: npm test'],
  [{ type: 'command', command: 'a\nrm b', folder: '' }, 'This command: a\\nrm b'],
  [{ type: 'begins', words: ['npm', 'test'] }, 'Commands that begin with npm test'],
  [{ type: 'begins', words: ['git commit', '-m'] }, "Commands that begin with 'git commit' -m"],
  [{ type: 'tool', tool: 'Edit' }, 'The tool Edit'],
  [{ type: 'tool', tool: 'Ed\u200bit' }, 'The tool Ed<U+200B>it'],
  [{ type: 'writes', pattern: 'src/**' }, 'Writes under src/**'],
])('%j is called %j', (match, label) => {
  expect(matchLabel(match, 'high')).toBe(label)
})
