import { describe, expect, test } from 'vitest'
import { didYouMean } from './did-you-mean.ts'

const keys = ['temperature', 'max_tokens', 'top_p', 'name', 'base_url']

describe('didYouMean', () => {
  test.each([
    ['temprature', 'temperature'],
    ['tempreature', 'temperature'],
    ['maxTokens', 'max_tokens'],
    ['MAX-TOKENS', 'max_tokens'],
    ['nmae', 'name'],
    ['names', 'name'],
    ['baseurl', 'base_url'],
  ])('%s is read as %s', (typed, meant) => {
    expect(didYouMean(typed, keys)).toBe(meant)
  })

  test.each(['colour', 'x', '', 'nobody'])('%j is near to nothing', (typed) => {
    expect(didYouMean(typed, keys)).toBeNull()
  })

  test('the nearest of several wins, whatever their order', () => {
    expect(didYouMean('toolcal', ['tools', 'tool_calls', 'tool_call'])).toBe('tool_call')
    expect(didYouMean('toolcal', ['tool_call', 'tool_calls', 'tools'])).toBe('tool_call')
  })
})
