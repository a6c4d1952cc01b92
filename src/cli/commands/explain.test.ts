import { describe, expect, test } from 'vitest'
import { errorCodes } from '../../domain/errors.ts'
import { errorHelp } from '../../http/error-help.ts'
import { main } from '../main.ts'
import { createTestIo } from '../testing/test-io.ts'

async function explain(...args: string[]) {
  const io = createTestIo()
  return { exitCode: await main(['explain', ...args], io), out: io.printed(), err: io.complained() }
}

describe('quarterdeck explain', () => {
  test.each(['session_not_found', 'SESSION_NOT_FOUND', 'https://quarterdeck.dev/errors/session_not_found'])(
    '%s says what it means, what to do and where more is',
    async (asked) => {
      const { means, todo } = errorHelp.session_not_found
      expect(await explain(asked)).toEqual({
        exitCode: 0,
        out: `session_not_found (HTTP 404)\n  ${means}\n  → ${todo}\n  More: docs/look-up/errors.md#session_not_found\n`,
        err: '',
      })
    },
  )

  test('names the page of a code that has one, and no marks of Markdown', async () => {
    const { out } = await explain('file_unreadable')
    expect(out).toContain(`More: docs/look-up/errors.md#file_unreadable, docs/${errorHelp.file_unreadable.page}\n`)
    expect(out).not.toContain('`')
  })

  test('without a code lists all, in groups', async () => {
    const { exitCode, out } = await explain()
    expect(exitCode).toBe(0)
    expect([...out.matchAll(/^ {2}(\w+)/gm)].map(([, code]) => code)).toEqual([...errorCodes])
    expect(out).toMatch(/^The request\n {2}invalid_request +\S/)
  })

  test('--json has one line for each code', async () => {
    const rows = (await explain('--json')).out.trimEnd().split('\n')
    expect(rows.map((line) => JSON.parse(line).code)).toEqual([...errorCodes])
    expect(JSON.parse((await explain('limit', '--json')).out)).toEqual({
      code: 'limit',
      status: 429,
      title: 'Limit',
      ...errorHelp.limit,
    })
  })

  test.each([
    ['sesion_not_found', '  Did you mean session_not_found?\n'],
    ['data_dir', '  Did you mean data_dir_locked, data_dir_newer, data_dir_older, data_dir_damaged?\n'],
    ['nothing-like-it', ''],
  ])('an unknown code, %s, is told what may be meant: exit 2', async (asked, hint) => {
    expect(await explain(asked)).toEqual({
      exitCode: 2,
      out: '',
      err: `quarterdeck: There is no error code "${asked}".\n${hint}  List all of them: quarterdeck explain\n`,
    })
  })
})
