import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace } from '../supervision/testing/workspace.ts'
import { takenBefore } from './server-paths.ts'

test('a file that a tool would load instead of the one that it loads now is protected too', () => {
  const root = makeWorkspace({ 'lib/mail/index.js': 'x', 'lib/text.json': 'x', 'lib/text/other.js': 'x' })

  expect(takenBefore(join(root, 'lib/mail/index.js'))).toEqual(
    expect.arrayContaining([join(root, 'lib/mail.js'), join(root, 'lib/mail.json')]),
  )
  expect(takenBefore(join(root, 'lib/text.json'))).toContain(join(root, 'lib/text.js'))
  // Everything in a folder would be protected with it.
  expect(takenBefore(join(root, 'lib/mail/index.js'))).not.toContain(join(root, 'lib/mail'))
  expect(takenBefore(join(root, 'lib/text.json'))).not.toContain(join(root, 'lib/text'))
})
