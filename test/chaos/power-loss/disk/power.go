package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// power is the machine around the disk. Lifecycle: on -> (cut -> on)* -> unmounted.
type power struct {
	mountpoint string
	disk       *disk
	filesystem *filesystem
}

func (p *power) on() error {
	p.filesystem = newFilesystem(p.disk)
	server, err := fuse.NewServer(p.filesystem, p.mountpoint, &fuse.MountOptions{
		FsName:             "power-disk",
		Name:               "power-disk",
		Options:            []string{"default_permissions"},
		AllowOther:         true,
		MaxWrite:           1 << 20,
		DirectMountStrict:  true,
		DisableReadDirPlus: true,
		DisableXAttrs:      true,
	})
	if err != nil {
		return err
	}
	go server.Serve()
	return server.WaitMount()
}

// cut holds the disk while the processes die, so that none of them notices the freeze or writes after the loss.
func (p *power) cut(chance *rand.Rand, kill []int) (loss, error) {
	p.disk.mu.Lock()
	if err := killAll(kill); err != nil {
		p.disk.mu.Unlock()
		return loss{}, err
	}
	p.filesystem.dead = true
	lost := p.disk.cut(chance)
	p.disk.mu.Unlock()
	if err := p.unmount(); err != nil {
		return lost, err
	}
	return lost, p.on()
}

// unmount takes the file system out of the tree at once; files that are still open are dead.
func (p *power) unmount() error {
	return syscall.Unmount(p.mountpoint, syscall.MNT_DETACH)
}

// killAll ends processes with their children.
func killAll(roots []int) error {
	children, err := childrenOf()
	if err != nil {
		return err
	}
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		if queue[0] <= 1 {
			return fmt.Errorf("%d is no process to kill", queue[0])
		}
		if err := syscall.Kill(queue[0], syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			return err
		}
		queue = append(queue, children[queue[0]]...)
	}
	return nil
}

func childrenOf() (map[int][]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // It has ended since.
		}
		var id, parent int
		var state string
		end := bytes.LastIndexByte(text, ')') // The name of a program is in parentheses and may hold some itself.
		if _, err := fmt.Sscan(string(text), &id); err != nil {
			return nil, err
		}
		if _, err := fmt.Sscan(string(text[end+1:]), &state, &parent); err != nil {
			return nil, err
		}
		children[parent] = append(children[parent], id)
	}
	return children, nil
}
