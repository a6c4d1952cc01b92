import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useClient } from '../../data/server.tsx'

/** Drawings in SVG are documents with scripts: they are saved. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

interface PictureSource {
  fileId: string | null
  mimeType: string | null
  /** The file itself, if it was chosen on this page. */
  local?: Blob | null
}

/** The address of a picture inside this page, fetched as whoever is signed in. Null: it is none, or it is not there. */
export function usePicture({ fileId, mimeType, local = null }: PictureSource): string | null {
  const client = useClient()
  const type = mimeType !== null && SHOWN_TYPES.has(mimeType) ? mimeType : null
  const { data } = useQuery({
    queryKey: ['files', fileId],
    queryFn: ({ signal }) => client.download({ file_id: fileId ?? '' }, { signal }),
    enabled: type !== null && fileId !== null && local === null,
    staleTime: 'static',
    // Pictures are large, and who scrolls back can wait.
    gcTime: 30_000,
    retry: false,
  })
  const [address, setAddress] = useState<string | null>(null)
  const content = local ?? data ?? null
  useEffect(() => {
    if (content === null || type === null) return
    // The type of the blob decides what the browser makes of it: never more than a picture.
    const made = URL.createObjectURL(new Blob([content], { type }))
    setAddress(made)
    return () => {
      URL.revokeObjectURL(made)
      setAddress(null)
    }
  }, [content, type])
  return address
}
