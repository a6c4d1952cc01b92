import { expect, test } from 'vitest'
import { folderName, sessionTitle } from './words.ts'

test('a session is called by its first words, or by the program and folder of a coding agent', () => {
  const supervision = { host: 'codex', workspace_root: '/home/ada/shop' }
  expect([
    sessionTitle({ title: 'Which parcels are late?', supervision }),
    sessionTitle({ title: '', supervision }),
    sessionTitle({ title: '' }),
  ]).toEqual(['Which parcels are late?', 'codex in shop', 'Untitled'])
})

test('a folder is called by the last part of its path', () => {
  expect(['/home/ada/shop', 'C:\\work\\shop', '/'].map(folderName)).toEqual(['shop', 'shop', '/'])
})
