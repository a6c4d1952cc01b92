import { describe, expect, test } from 'vitest'
import type { MadeCall } from './case-result.ts'
import { checkTools } from './check-tools.ts'

const made = (name: string, args: MadeCall['arguments'] = {}, bySubagent = false): MadeCall => ({
  name,
  arguments: args,
  bySubagent,
})
const wants = (name: string, args: Record<string, unknown> | null = null) => ({ name, arguments: args })

describe('expected tools', () => {
  test('must be called in their order; other calls may come between them', () => {
    const calls = [made('search'), made('think'), made('read'), made('answer')]

    expect(checkTools({ tools: [wants('search'), wants('answer')], onlyTheseTools: false }, calls)).toEqual([])
    expect(checkTools({ tools: [wants('answer'), wants('search')], onlyTheseTools: false }, calls)).toEqual([
      { check: 'tools', expected: 'search after answer', found: 'search({}), think({}), read({}), answer({})' },
    ])
  })

  test('must be called with the named arguments; other arguments are allowed', () => {
    const calls = [made('weather', { city: 'Bergen', days: 3, where: { lat: 60, lon: 5 } })]
    const expecting = (args: Record<string, unknown>) =>
      checkTools({ tools: [wants('weather', args)], onlyTheseTools: false }, calls)

    expect(expecting({ city: 'Bergen' })).toEqual([])
    expect(expecting({ where: { lon: 5, lat: 60 } })).toEqual([])
    expect(expecting({ city: 'Oslo' })).toEqual([
      {
        check: 'tools',
        expected: 'weather({"city":"Oslo"})',
        found: 'weather({"city":"Bergen","days":3,"where":{"lat":60,"lon":5}})',
      },
    ])
    expect(expecting({ toString: null })).toHaveLength(1)
  })

  test('the same tool twice needs two calls, and one missing call is one finding', () => {
    const tools = [wants('add'), wants('add'), wants('show')]

    expect(checkTools({ tools, onlyTheseTools: false }, [made('add'), made('add'), made('show')])).toEqual([])
    expect(checkTools({ tools, onlyTheseTools: false }, [made('add'), made('show')])).toEqual([
      { check: 'tools', expected: 'add after add', found: 'add({}), show({})' },
    ])
  })

  test('a call whose arguments are not a JSON object does not match expected arguments', () => {
    const calls = [made('add', null)]

    expect(checkTools({ tools: [wants('add')], onlyTheseTools: false }, calls)).toEqual([])
    expect(checkTools({ tools: [wants('add', {})], onlyTheseTools: false }, calls)).toHaveLength(1)
  })

  test('`onlyTheseTools` refuses other tools, except those that a sub-agent calls', () => {
    const calls = [made('tutor'), made('search', {}, true), made('delete', { id: 1 })]

    expect(checkTools({ tools: [wants('tutor'), wants('search')], onlyTheseTools: true }, calls.slice(0, 2))).toEqual(
      [],
    )
    expect(checkTools({ tools: [wants('tutor')], onlyTheseTools: true }, calls)).toEqual([
      { check: 'tools', expected: 'no tool calls except tutor', found: 'delete({"id":1})' },
    ])
    expect(checkTools({ tools: [], onlyTheseTools: true }, [made('delete')])).toEqual([
      { check: 'tools', expected: 'no tool calls', found: 'delete({})' },
    ])
  })
})
