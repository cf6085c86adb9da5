/** nginx as one process with all files in its own folder, so that any user can run it. */
export function nginxConfig(
  port: number,
  folder: string,
  backendPort: number,
  zone: string,
  rules: string,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ');
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr crit;
events {}
http {
  access_log off;
  ${temporary}
  ${zone}
  server {
    listen 127.0.0.1:${port};
    location / {
      ${rules}
      proxy_pass http://127.0.0.1:${backendPort};
    }
  }
}
`;
}
