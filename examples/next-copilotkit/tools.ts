import { defineTool } from 'quarterdeck'
import { z } from 'zod'

export const book_room = defineTool({
  description: 'Books a meeting room for a day.',
  parameters: z.object({ room: z.string(), day: z.iso.date() }),
  run: ({ room, day }, { user }) => `${room} is booked for ${user} on ${day}.`,
})
