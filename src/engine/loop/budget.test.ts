import { expect, test } from 'vitest'
import { testAgent } from '../testing/open-engine.ts'
import { createBudget } from './budget.ts'

/** How many of the calls are made before the limit of identical ones. */
function made(calls: readonly string[], identicalCalls = 2): number {
  const budget = createBudget({ ...testAgent.limits, identicalCalls }, () => 0)
  for (const [i, args] of calls.entries()) {
    try {
      budget.toolCall('send', args)
    } catch {
      return i
    }
  }
  return calls.length
}

test('the same arguments in another spelling are the same call', () => {
  expect(made(['{"a":1,"b":"é"}', '{"b":"\\u00e9", "a":1.0}', '{ "a": 10e-1, "b": "é" }'])).toBe(2)
  expect(
    made(['{"x":{"a":[1,{"c":1,"d":2}]}}', '{"x":{"a":[1,{"d":2,"c":1}]}}', '{"x":{"a":[1,{"c":1,"d":2}]}}']),
  ).toBe(2)
})

test('other arguments are another call', () => {
  expect(made(['{"a":[1,2]}', '{"a":[2,1]}', '{"a":"1"}', '{"a":1}', '{"a":null}', '{}'])).toBe(6)
})

test('what is no JSON is compared as it is', () => {
  expect(made(['{"a":', '{"a":', '{"a" :'])).toBe(3)
  expect(made(['{"a":', '{"a":', '{"a":'])).toBe(2)
})
