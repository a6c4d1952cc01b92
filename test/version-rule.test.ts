import { describe, expect, test } from 'vitest'
import { changeOf, hasRaised, partToRaise, whatToDo } from '../scripts/version-rule.ts'

const TYPES = 'docs/public-types.txt'
const SCHEMA = 'schema/agent.schema.json'

/** What a change asks of 1.4.2, and of 0.1.0. */
const asks = (file: string, before: unknown, after: unknown) => {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const change = changeOf(file, text(before), text(after))
  return [partToRaise(change, '1.4.2'), partToRaise(change, '0.1.0')]
}

describe('semantic versions', () => {
  const options = "export interface Options { url: string; mode?: 'a' | 'b'; }"
  test.each([
    ['nothing', options, 'patch', 'patch'],
    ['a new member', options.replace('url', 'token?: string; url'), 'minor', 'patch'],
    ['one more value', options.replace("'b'", "'b' | 'c'"), 'minor', 'patch'],
    ['a new function', `${options}\nexport function run(options: Options): void;`, 'minor', 'patch'],
    ['a member that is gone', options.replace('url: string; ', ''), 'major', 'minor'],
    ['a member of another type', options.replace('url: string', 'url: URL'), 'major', 'minor'],
    ['a name that is gone', 'export interface Choices {}', 'major', 'minor'],
  ])('of the library, for %s', (_, after, late, early) => {
    expect(asks(TYPES, options, after)).toEqual([late, early])
  })

  const schema = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', description: 'Who.' }, title: { enum: ['a', 'b'] } },
  }
  const withProperties = (more: object) => ({ ...schema, properties: { ...schema.properties, ...more } })
  test.each([
    [
      'other words and another order',
      { ...withProperties({ name: { description: 'Its name.', type: 'string' }, title: { enum: ['b', 'a'] } }) },
      'patch',
      'patch',
    ],
    ['a new key', withProperties({ note: { type: 'string' } }), 'minor', 'patch'],
    [
      'a key that must be given',
      { ...withProperties({ note: { type: 'string' } }), required: ['name', 'note'] },
      'major',
      'minor',
    ],
    ['a value that is gone', withProperties({ title: { enum: ['a'] } }), 'major', 'minor'],
    [
      'a key with the name of a text that is gone',
      { ...schema, properties: { name: schema.properties.name } },
      'major',
      'minor',
    ],
  ])('of the wire and the YAML, for %s', (_, after, late, early) => {
    expect(asks(SCHEMA, schema, after)).toEqual([late, early])
  })

  test('a version has raised a number if that one, or one before it, is higher', () => {
    const raised = (before: string, now: string) =>
      (['major', 'minor', 'patch'] as const).filter((part) => hasRaised(part, before, now))
    expect(raised('1.4.2', '2.0.0')).toEqual(['major', 'minor', 'patch'])
    expect(raised('1.4.2', '1.10.0')).toEqual(['minor', 'patch'])
    expect(raised('1.4.2', '1.4.3')).toEqual(['patch'])
    expect(raised('1.4.2', '1.4.2')).toEqual([])
    expect(raised('1.4.2', '1.3.9')).toEqual([])
  })

  test('a file that differs says what has changed, and what to do', () => {
    expect(whatToDo(TYPES, options, options.replace('url', 'address'), '0.1.0')).toBe(
      `docs/public-types.txt (the library) differs from what the code says.
1 gone or changed: Options: url: string
1 new: Options: address: string
If you mean it: npm run generate, and say it in CHANGELOG.md. The next release then raises at least the minor number (docs/understand/versions.md).`,
    )
  })
})
