import { z } from 'zod'
import { fileTypes } from '../../../domain/session/file.ts'

export const FileSchema = z
  .strictObject({
    file_id: z.string(),
    mime_type: z
      .enum(fileTypes)
      .describe('The type, determined from the content. Other texts, such as JSON or HTML, are `text/plain`.'),
    bytes: z.int(),
    sha256: z.string(),
    name: z.string(),
  })
  .meta({
    id: 'File',
    example: {
      file_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
      mime_type: 'application/pdf',
      bytes: 48_213,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      name: 'report.pdf',
    },
  })
/** A file for `files` of a message, and for `download`. */
export type UploadedFile = z.output<typeof FileSchema>
