import { EventSchema } from '@ag-ui/core/schemas'
import type { z } from 'zod'

/** The type has only what we read of it: a declaration cannot name all parts of AG-UI's own. */
export const AgUiEventSchema: z.ZodType<{ type: string; timestamp?: number | undefined }> = EventSchema.meta({
  id: 'AgUiEvent',
})
