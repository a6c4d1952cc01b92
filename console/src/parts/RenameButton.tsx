import { type ComponentProps, lazy, Suspense, useState } from 'react'
import { IconButton } from './Button.tsx'
import { EditIcon } from './icons.ts'

const RenameDialog = lazy(() => import('./RenameDialog.tsx'))

/** Opens the dialog that names a session. */
export function RenameButton({ session }: Pick<ComponentProps<typeof RenameDialog>, 'session'>) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <IconButton label="Rename" icon={<EditIcon />} onClick={() => setOpen(true)} />
      {isOpen && (
        <Suspense>
          <RenameDialog session={session} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
