// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { substitute } from './substitute.ts'

const env = { KEY: 'value', EMPTY: '', BLANK: '  ', YAML: 'a: [1]\n- b', NESTED: '${KEY}' }

describe('substitute', () => {
  test.each([
    ['${KEY}', 'value'],
    ['a ${KEY} and ${KEY}.', 'a value and value.'],
    ['${MISSING:-other}', 'other'],
    ['${MISSING:-}', ''],
    ['${EMPTY:-other}', 'other'],
    ['${BLANK:-other}', 'other'],
    ['${KEY:-other}', 'value'],
    ['${MISSING:-http://x:1/a b}', 'http://x:1/a b'],
    ['${YAML}', 'a: [1]\n- b'],
    ['${NESTED}', '${KEY}'],
  ])('%j becomes %j', (source, text) => {
    expect(substitute(source, env)).toEqual({ text, replaced: true, problems: [] })
  })

  test.each([
    ['$${KEY}', '${KEY}'],
    ['costs $5, $KEY and {x}', 'costs $5, $KEY and {x}'],
  ])('%j holds no variable and becomes %j', (source, text) => {
    expect(substitute(source, env)).toEqual({ text, replaced: false, problems: [] })
  })

  test('a variable that is not set or empty is reported by name', () => {
    const missing = (name: string) =>
      `the environment variable ${name} is not set. Set it, put ${name}=… into .env next to this file, ` +
      `or write \${${name}:-default} ($\${${name}} for the literal text).`
    expect(substitute('${ONE} ${EMPTY}', env).problems).toEqual([missing('ONE'), missing('EMPTY')])
  })

  test.each(['${', '${}', '${1A}', '${A B}', '${KEY', '${KEY-x}'])(
    '%j is not a complete variable, and the message says how to write one',
    (source) => {
      expect(substitute(source, env).problems).toEqual([
        '${ starts a variable, but this one is incomplete. Write ${NAME} or ${NAME:-default}; for a literal ${, write $${.',
      ])
    },
  )

  test('names that every object has are not variables', () => {
    expect(substitute('${constructor:-no} ${__proto__:-no}', env).text).toBe('no no')
  })

  test('any text can be written with $${ for ${', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const escaped = text.replaceAll('${', '$$${')
        // A $ right before ${ is read as part of the escape, so such texts are left to a variable's value.
        fc.pre(!text.includes('$${'))
        expect(substitute(escaped, {}).text).toBe(text)
      }),
    )
  })
})
