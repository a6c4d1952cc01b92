import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import type { EditCheck, ShownApproval } from 'quarterdeck/client'
import { useClient } from '../../../data/server.tsx'
import { withChange } from '../kept-change.ts'
import type { ChangedFile, Choices } from './choices.ts'

/** What would come of one edit. */
export interface FileEdit {
  text: string
  /** Null: the server has not looked at it yet. */
  check: EditCheck | null
  error: unknown
}

const UNKNOWN: FileEdit = { text: '', check: null, error: null }
const ALWAYS = { staleTime: Number.POSITIVE_INFINITY }

/** The edits of the draft, by path: the agent's texts are read once more, and the server says what would come of each edit. */
export function useEdits(
  { approval_id: id }: Pick<ShownApproval, 'approval_id'>,
  files: readonly ChangedFile[],
  choices: Choices,
): ReadonlyMap<string, FileEdit> {
  const client = useClient()
  const queries = useQueryClient()
  const edited = files.flatMap(({ path }) => {
    const change = choices.edit(path)
    return change === undefined ? [] : [{ path, change }]
  })

  async function read(path: string, change: string): Promise<FileEdit> {
    const { content } = await client.approval(id, { path, include: ['content'] })
    const text = withChange(content ?? '', change)
    // Of this file alone, so that what the server shows is about this file.
    const leave = files.map((one) => one.path).filter((one) => one !== path)
    const check = await client.checkEdit(id, { arguments: { leave, discard: [], edit: { [path]: text } } })
    return { text, check, error: null }
  }
  const { data } = useQuery({
    ...ALWAYS,
    queryKey: ['edits', id, edited],
    enabled: edited.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const found = edited.map(async ({ path, change }): Promise<[string, FileEdit]> => {
        const queryKey = ['edit', id, path, change]
        const queryFn = () => read(path, change)
        const one = await queries
          .fetchQuery({ ...ALWAYS, queryKey, queryFn })
          .catch((error: unknown): FileEdit => ({ ...UNKNOWN, error }))
        return [`${path}\n${change}`, one]
      })
      return new Map(await Promise.all(found))
    },
  })
  return new Map(edited.map(({ path, change }) => [path, data?.get(`${path}\n${change}`) ?? UNKNOWN]))
}
