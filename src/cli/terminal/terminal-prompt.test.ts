import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createTestIo } from '../testing/test-io.ts'
import { createTerminalPrompt } from './terminal-prompt.ts'

function setUp() {
  const stdin = new PassThrough()
  const io = createTestIo({ stdin, terminal: true })
  return { stdin, io, prompt: createTerminalPrompt(io, '> ') }
}

describe('the prompt', () => {
  test('returns pasted lines one by one, and lets the person finish the last', async () => {
    const { stdin, prompt } = setUp()

    stdin.write('one\rtwo\rthr')
    expect([await prompt.ask(), await prompt.ask()]).toEqual([
      { type: 'line', line: 'one' },
      { type: 'line', line: 'two' },
    ])
    const third = prompt.ask()
    stdin.write('ee\r')
    expect(await third).toEqual({ type: 'line', line: 'three' })
  })

  test('brings back an earlier line with the arrow key', async () => {
    const { stdin, prompt } = setUp()

    stdin.write('hello\r')
    await prompt.ask()
    stdin.write('\x1b[A\r')

    expect(await prompt.ask()).toEqual({ type: 'line', line: 'hello' })
  })

  test('starts with a draft that can be edited', async () => {
    const stdin = new PassThrough()
    const prompt = createTerminalPrompt(createTestIo({ stdin, terminal: true }), '> ', 'good morning')

    stdin.write('\x17evening\r')

    expect(await prompt.ask()).toEqual({ type: 'line', line: 'good evening' })
  })

  test('is withdrawn by a signal, and keeps what was typed', async () => {
    const { stdin, io, prompt } = setUp()
    const taken = new AbortController()
    const first = prompt.ask(taken.signal)
    stdin.write('half a ')
    await io.until('half a ')
    taken.abort()
    expect(await first).toEqual({ type: 'withdrawn' })
    const second = prompt.ask()
    stdin.write('line\r')

    expect(await second).toEqual({ type: 'line', line: 'half a line' })
  })

  test('tells Ctrl-C from Ctrl-D', async () => {
    const { stdin, prompt } = setUp()

    stdin.write('half a line\x03')
    expect(await prompt.ask()).toEqual({ type: 'interrupt' })
    stdin.write('\x04')
    expect(await prompt.ask()).toEqual({ type: 'end' })
  })
})
