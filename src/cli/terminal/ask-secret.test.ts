import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createTestIo } from '../testing/test-io.ts'
import { askSecret } from './terminal-prompt.ts'

describe('a secret that is asked for', () => {
  /** A terminal that shows every key until it is told not to. */
  function atTerminal() {
    const stdin = new PassThrough()
    const io = createTestIo({ stdin, terminal: true })
    const modes: [raw: boolean, said: string][] = []
    Object.assign(stdin, {
      setRawMode(raw: boolean) {
        modes.push([raw, io.complained()])
        return stdin
      },
    })
    return { stdin, io, modes }
  }

  test('is not shown, even if it is typed before the question is complete', async () => {
    const { stdin, io, modes } = atTerminal()

    const asked = askSecret('Token: ', io)
    stdin.write('qd_sec')
    stdin.write('ret\r')

    expect(await asked).toBe('qd_secret')
    expect([io.printed(), io.complained()]).toEqual(['', 'Token: \n'])
    // The terminal stops showing keys before the question, and shows them again afterwards.
    expect([modes[0], modes.at(-1)?.[0]]).toEqual([[true, ''], false])
  })

  test.each([
    ['Enter', '\r'],
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('is null after %s', async (_name, key) => {
    const { stdin, io } = atTerminal()

    const asked = askSecret('Token: ', io)
    stdin.write(key)

    expect(await asked).toBe(null)
  })

  test('is null without a terminal, and nothing is printed', async () => {
    const io = createTestIo({ stdin: 'qd_secret\n' })

    expect([await askSecret('Token: ', io), io.complained()]).toEqual([null, ''])
  })
})
