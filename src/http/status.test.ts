import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { errorCodes } from '../domain/errors.ts'
import { statusOf, titleOf } from './status.ts'

describe('statuses', () => {
  test('the table in docs/look-up/errors.md lists exactly the codes and statuses of the server, in the same order', () => {
    const text = readFileSync(new URL('../../docs/look-up/errors.md', import.meta.url), 'utf8')
    const rows = text.matchAll(/^\| <a id="(\w+)"><\/a>`\1` (\d{3}) \| (.+) \| (.+) \|$/gm)
    const documented = [...rows].map(([, code, status]) => [code, Number(status)])

    expect(documented).toEqual(errorCodes.map((code) => [code, statusOf[code]]))
  })

  test('a title reads like words', () => {
    expect(titleOf('body_too_large')).toBe('Body too large')
  })
})
