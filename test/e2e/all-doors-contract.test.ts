import { expect, test } from 'vitest'
import { doorNames } from '../../src/doors.ts'
import { describeDoors } from './door.contract.ts'
import { allDoors } from './doors.ts'

describeDoors(allDoors)

test('every door that takes messages is here: at MCP and its hooks, agents elsewhere ask us', () => {
  expect(doorNames.filter((name) => !allDoors.some(({ door }) => door === name))).toEqual(['mcp'])
})
