// Which doors there are. This is data alone: whoever needs only names and words, as the settings do, loads no protocol with them.

import type { DeclaredDoor } from './domain/settings/door.ts'
import { agUi } from './protocols/ag-ui/declare.ts'
import { mcp } from './protocols/mcp/declare.ts'
import { openAi } from './protocols/openai/declare.ts'
import { rest } from './protocols/rest/declare.ts'
import { threads } from './protocols/threads/declare.ts'

/** In the order in which they are listed everywhere. `createRoutes` does not compile without the code of each. */
export const doors = [agUi, rest, threads, openAi, mcp] as const satisfies readonly DeclaredDoor[]

/** A door is a family of routes that the setting `protocols` can close. */
export type Door = (typeof doors)[number]['name']

export const doorNames: readonly Door[] = doors.map(({ name }) => name)
