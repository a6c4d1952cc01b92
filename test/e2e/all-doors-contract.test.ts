import { expect, test } from 'vitest'
import { doorNames } from '../../src/doors.ts'
import { describeDoors } from './door.contract.ts'
import { streamingDoors, waitingDoors } from './doors.ts'

const all = [...streamingDoors, ...waitingDoors]

describeDoors(all)

test('every door that takes messages is here: at MCP and its hooks, agents elsewhere ask us', () => {
  expect(doorNames.filter((name) => !all.some(({ door }) => door === name))).toEqual(['mcp'])
})
