import '../styles/tokens.css'
import '../styles/base.css'
import { createRoot } from 'react-dom/client'
import { beginTheme } from '../app/theme.ts'
import { keepIcon } from '../base.ts'
import { TalkApp } from './TalkApp.tsx'
import { beginTalk } from './user-token.ts'

keepIcon()
beginTheme()
void beginTalk()
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<TalkApp />)
