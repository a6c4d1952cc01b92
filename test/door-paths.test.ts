// A request loads only the door that has its path.

import { expect, test } from 'vitest'
import { type Door, doorNames } from '../src/doors.ts'
import { agUiDoor } from '../src/protocols/ag-ui/door.ts'
import { aiDoor } from '../src/protocols/ai/door.ts'
import { mcpDoor } from '../src/protocols/mcp/door.ts'
import { openAiDoor } from '../src/protocols/openai/door.ts'
import { restDoor } from '../src/protocols/rest/door.ts'
import { threadsDoor } from '../src/protocols/threads/door.ts'
import { routeTable } from './crash/support/route-table.ts'

const own: Readonly<Record<Door, readonly string[]>> = {
  'ag-ui': agUiDoor.own,
  rest: restDoor.own,
  threads: threadsDoor.own,
  openai: openAiDoor.own,
  ai: aiDoor.own,
  mcp: mcpDoor.own,
}

test('where a door says that only it has paths, there are its routes alone', async () => {
  const routes = await routeTable()
  const wrong = routes.filter(({ path, door }) => {
    const owners = doorNames.filter((name) => own[name].includes(path.split('/')[1] ?? ''))
    // REST and threads share `POST /chat`. Pages are here from the beginning.
    const isOfNone = door === null && (path === '/' || path === '/chat')
    return owners.length > 0 && !isOfNone && (door === null || !owners.includes(door))
  })
  expect(wrong.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  expect(routes.length).toBeGreaterThan(100)
})

test('a door has no routes but where it says so', async () => {
  // It only makes its routes here, and none is asked.
  const get = (_: unknown, name: string | symbol) =>
    name === 'then' ? undefined : name === Symbol.toPrimitive ? () => 0 : nothing
  const nothing: unknown = new Proxy(() => nothing, { get })
  for (const door of [agUiDoor, aiDoor, mcpDoor, openAiDoor, restDoor, threadsDoor]) {
    const routes = await door.routes(nothing as never)
    const segments = [...new Set(routes.map(({ path }) => path.split('/')[1] ?? ''))]
    expect(segments.filter((name) => !door.own.includes(name) && !door.own.includes(`${name}/`))).toEqual([])
    expect(routes.length).toBeGreaterThan(0)
  }
})
