import { describe, expect, test } from 'vitest'
import { ConfigError } from '../config/config-error.ts'
import { ServerError } from '../domain/errors.ts'
import { CliError } from './cli-error.ts'
import { reportError } from './report-error.ts'
import { createTestIo } from './testing/test-io.ts'

const issue = (line: number, message: string) => ({ file: 'agent.yaml', line, column: 1, path: 'name', message })
const system = (code: string) =>
  Object.assign(new Error(`${code}: no, open '/x'`), { code, syscall: 'open', path: '/x' })

describe('reportError', () => {
  test.each([
    ['what a person can mend', new CliError(69, 'Port taken.', ['Take another.']), 69, 'Port taken.\n  Take another.'],
    ['one mistake in a file', new ConfigError([issue(2, 'wrong.')]), 2, 'agent.yaml:2:1 name: wrong.'],
    [
      'several mistakes in files',
      new ConfigError([issue(2, 'wrong.'), issue(3, 'too.')]),
      2,
      'The configuration has 2 problems:\n  agent.yaml:2:1 name: wrong.\n  agent.yaml:3:1 name: too.',
    ],
    [
      'a locked folder',
      new ServerError('data_dir_locked', 'In use.'),
      73,
      'In use.\n  More: quarterdeck explain data_dir_locked',
    ],
    ['a wrong setting', new ServerError('config_invalid', 'Not so.'), 2, 'Not so.'],
    [
      'a full disk',
      new ServerError('storage_full', 'The disk is full.'),
      74,
      'The disk is full.\n  More: quarterdeck explain storage_full',
    ],
    [
      'a database that is away',
      new ServerError('storage_failed', 'It is away.', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') }),
      74,
      'It is away.\n  The reason: connect ECONNREFUSED 127.0.0.1:1\n  More: quarterdeck explain storage_failed',
    ],
    [
      'a database that is away at all its addresses',
      new ServerError('storage_failed', 'It is away.', {
        cause: new Error('', { cause: new AggregateError([new Error('connect ECONNREFUSED ::1:1')]) }),
      }),
      74,
      'It is away.\n  The reason: connect ECONNREFUSED ::1:1\n  More: quarterdeck explain storage_failed',
    ],
    ['a full disk of the system', system('ENOSPC'), 74, "ENOSPC: no, open '/x'"],
    ['a file that may not be read', system('EACCES'), 73, "EACCES: no, open '/x'"],
    [
      'a bug',
      new TypeError('x is not a function'),
      70,
      'internal error: x is not a function\n' +
        '  This is a bug in Quarterdeck. Please report it, with the output of QUARTERDECK_DEBUG=1.',
    ],
  ])('reports %s in one block, without a stack', (_, error, exitCode, text) => {
    const io = createTestIo()

    expect([reportError(error, io), io.complained()]).toEqual([exitCode, `quarterdeck: ${text}\n`])
  })

  test('adds the stack on request', () => {
    const io = createTestIo({ env: { QUARTERDECK_DEBUG: '1' } })

    reportError(new TypeError('x'), io)

    expect(io.complained()).toContain('report-error.test.ts')
  })
})
