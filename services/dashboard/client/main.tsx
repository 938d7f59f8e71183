import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app/app.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { announceNonce } from './app/content-nonce.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
announceNonce()
createRoot(root).render(<App />)
