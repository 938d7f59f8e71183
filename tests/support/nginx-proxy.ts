import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { until } from './until.ts'

export interface NginxProxy {
  pid: number
  url: string
  stop(): Promise<void>
}

/**
 * nginx as a plain proxy in front of `upstream`: one process, no buffering, keep-alive. Undefined if not
 * installed.
 */
export async function startNginxProxy(upstream: string): Promise<NginxProxy | undefined> {
  if (spawnSync('nginx', ['-v']).error !== undefined) return undefined
  const [port] = (await freePorts(1)) as [number]
  const directory = await mkdtemp(join(tmpdir(), 'sluice-nginx-'))
  await writeFile(join(directory, 'nginx.conf'), configuration(port, new URL(upstream).host))
  const child = spawn('nginx', ['-p', directory, '-c', 'nginx.conf', '-e', 'error.log'], { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await until(() => isListening(url))
  return {
    pid: child.pid as number,
    url,
    async stop() {
      child.kill('SIGKILL')
      await exited
      await rm(directory, { recursive: true })
    },
  }
}

const configuration = (port: number, upstream: string) => `
daemon off;
master_process off;
pid nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 1000000000;
  upstream provider { server ${upstream}; keepalive 512; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`

async function isListening(url: string): Promise<boolean> {
  try {
    await fetch(url, { method: 'HEAD' })
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
